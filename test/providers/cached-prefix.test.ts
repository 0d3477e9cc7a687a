/** Requests as vendors cache them: the beginning stays as it was, to the byte, and marked is what will be read. */
import fc from 'fast-check';
import { anthropicBody } from '../../providers/anthropic/request.js';
import { optionsOf } from '../../providers/ai-sdk/request.js';
import { chatBody } from '../../providers/openai/chat-request.js';
import { responsesRequest } from '../../providers/openai/responses-request.js';
import type { Json } from '../../core/json/json.js';
import type { Block, ToolOffer } from '../../core/state/transcript.js';
import type { ModelRequest, RequestMessage } from '../../providers/provider.js';
import { vendorNamed } from '../../lab/bench/cache/vendors.js';
import type { Piece } from '../../lab/bench/cache/vendor-cache.js';
import { drawsOf } from '../properties.js';
import { requestOf } from './scripted-setup.js';

const NEARLY_USED = ['Budget left: 3 of 20 turns.'];
const LATE = '(The runtime says, for this request alone:\nBudget left: 3 of 20 turns.)';
const TOOL: ToolOffer = {
  name: 'look',
  wireName: 'look',
  version: '1',
  description: 'Looks.',
  inputSchema: { type: 'object' },
};
const unstored = { stored: false, known: () => false };

const BODIES: { readonly [vendor: string]: (request: ModelRequest) => object } = {
  anthropic: anthropicBody,
  openai: (request) => chatBody(request, 'openai'),
  plain: (request) => chatBody(request, 'plain'),
  'openai-responses': (request) => responsesRequest(request, unstored).body,
};

function piecesOf(vendor: string, request: ModelRequest): readonly Piece[] {
  return vendorNamed(vendor).pieces(JSON.stringify(BODIES[vendor]!(request)));
}

const textOf = (text: string): Block => ({ type: 'text', text });
const user = (...blocks: readonly Block[]): RequestMessage => ({ role: 'user', blocks });

function turn(index: number, calls: number): readonly RequestMessage[] {
  const ids = Array.from({ length: calls }, (_, call) => `c${index}-${call}`);
  const uses = ids.map((id): Block => ({ type: 'tool_use', id, tool: 'look', args: { id } }));
  const results = ids.map((id): Block => ({ type: 'tool_result', id, isError: false, text: id }));
  return [
    { role: 'assistant', blocks: [textOf(`Reply ${index}.`), ...uses] },
    user(...(calls === 0 ? [textOf(`And ${index}?`)] : results)),
  ];
}

/** The requests of a conversation whose turns make so many calls each. */
function requestsOf(turns: readonly number[], dynamicFrom = turns.length): readonly ModelRequest[] {
  return turns.map((_, count) =>
    requestOf({
      tools: [TOOL],
      messages: [
        user(textOf('Hello')),
        ...turns.slice(0, count).flatMap((calls, index) => turn(index, calls)),
      ],
      ...(count >= dynamicFrom && { dynamic: [`Budget left: ${turns.length - count} turns.`] }),
    }),
  );
}

const conversation = fc.record({
  turns: fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 2, maxLength: 12 }),
  dynamicFrom: fc.integer({ min: 0, max: 12 }),
});

describe.each(Object.keys(BODIES))('a conversation that grows, for %s', (vendor) => {
  test('each request begins with the bytes of the one before it, but for what is said last', () => {
    const grows = fc.property(conversation, ({ turns, dynamicFrom }) => {
      const said = requestsOf(turns, dynamicFrom).map((request) => piecesOf(vendor, request));
      said.slice(1).forEach((pieces, index) => {
        const before = said[index]!;
        const last = before.findLastIndex(({ marked }) => marked);
        // What is said for one request alone stands behind the last mark, or in the last message.
        const kept = before.slice(0, vendor === 'anthropic' ? last + 1 : -1);
        expect(pieces.slice(0, kept.length).map(({ text }) => text)).toEqual(
          kept.map(({ text }) => text),
        );
      });
    });
    fc.assert(grows, drawsOf(60));
  });
});

test('Anthropic is given at most four marks, the last two at the newest messages of the user', () => {
  const marks = fc.property(conversation, ({ turns, dynamicFrom }) => {
    for (const request of requestsOf(turns, dynamicFrom)) {
      const pieces = piecesOf('anthropic', request);
      expect(pieces.filter(({ marked }) => marked).length).toBeLessThanOrEqual(4);
      const { messages } = anthropicBody(request);
      const users = messages.filter(({ role }) => role === 'user');
      const marked = users.map(({ content }) => JSON.stringify(content).includes('ephemeral'));
      expect(marked).toEqual(users.map((_, index) => index >= users.length - 2));
    }
  });
  fc.assert(marks, drawsOf(60));
});

test('a request for a summary reads what is kept, and keeps nothing that nobody will read', () => {
  const [, second] = requestsOf([1, 1]);
  const { metadata = { runId: 'r', call: 1 } } = second!;
  const purpose = (of: 'compaction' | 'judge'): ModelRequest => ({
    ...second!,
    metadata: { ...metadata, purpose: of },
  });
  const marked = (request: ModelRequest): readonly boolean[] =>
    anthropicBody(request).messages.map((one) => JSON.stringify(one).includes('ephemeral'));
  expect(marked(purpose('compaction'))).toEqual([true, false, false]);
  expect(marked(purpose('judge'))).toEqual([false, false, false]);
});

describe('what changes with every request', () => {
  const [, request] = requestsOf([1, 1]).map((one) => ({ ...one, dynamic: NEARLY_USED }));

  test('is said behind the marks of Anthropic, and before them where a model would forget its thinking', () => {
    const { system, messages } = anthropicBody(request!);
    expect(JSON.stringify(system)).not.toContain('Budget');
    expect((messages.at(-1)!.content as readonly unknown[]).at(-1)).toEqual({
      type: 'text',
      text: LATE,
    });
    const raw: readonly Json[] = [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'tool_use', id: 'c0-0', name: 'look', input: {} },
    ];
    const thought = request!.messages.map((message) =>
      message.role === 'assistant' ? { ...message, rawModel: 'scripted-model', raw } : message,
    );
    const early = anthropicBody({ ...request!, messages: thought });
    expect(early.system).toContainEqual({ type: 'text', text: NEARLY_USED[0] });
    expect(JSON.stringify(early.messages)).not.toContain('Budget');
    const adaptive = { thinking: { maxTokens: 2_000, adaptive: true }, messages: thought };
    expect(JSON.stringify(anthropicBody({ ...request!, ...adaptive }).system)).not.toContain(
      'Budget',
    );
  });

  test('is the last word of the system for OpenAI, in both protocols', () => {
    const chat = chatBody(request!, 'openai')['messages'] as readonly unknown[];
    expect(chat[0]).toEqual({ role: 'system', content: 'Be brief.' });
    expect(chat.at(-1)).toEqual({ role: 'system', content: NEARLY_USED[0] });
    const { body } = responsesRequest(request!, unstored);
    expect(body['instructions']).toBe('Be brief.');
    expect((body['input'] as readonly unknown[]).at(-1)).toEqual({
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: NEARLY_USED[0] }],
    });
  });

  test('stands in the last message for servers that take no other one behind a result', () => {
    for (const dialect of ['plain', 'litellm'] as const) {
      const messages = chatBody(request!, dialect)['messages'] as readonly unknown[];
      expect(messages.at(-1)).toEqual({
        role: 'tool',
        tool_call_id: 'c0-0',
        content: `c0-0\n\n${LATE}`,
      });
    }
  });

  test('is not kept by a server that keeps conversations: such a request, and the next, are sent whole', () => {
    const stored = { stored: true, known: () => true };
    const { prefix, previous } = responsesRequest(request!, stored);
    expect(previous).toBeUndefined();
    const raw = {
      id: 'resp_1',
      prefix,
      output: [{ type: 'message', role: 'assistant', content: [] }],
    };
    const reply = {
      role: 'assistant',
      blocks: [textOf('Done.')],
      raw,
      rawModel: 'scripted-model',
    } as const;
    const { dynamic: _, ...rest } = request!;
    const next = { ...rest, messages: [...rest.messages, reply, user(textOf('And?'))] };
    expect(responsesRequest(next, stored).previous).toBeUndefined();
    const plain = responsesRequest(rest, stored).prefix;
    const continued = {
      ...next,
      messages: next.messages.with(-2, { ...reply, raw: { ...raw, prefix: plain } }),
    };
    expect(responsesRequest(continued, stored).previous).toBe('resp_1');
  });
});

type Prompt = readonly { readonly [part: string]: unknown }[];

function promptOf(provider: string, request: ModelRequest): Prompt {
  const { prompt } = optionsOf(request, { provider, specificationVersion: 'v4' }, undefined);
  return prompt as Prompt;
}

describe.each(['anthropic.messages', 'mistral.chat'])('a model of the AI SDK, %s', (provider) => {
  const isMarked = provider.startsWith('anthropic');
  const unmarked = (prompt: Prompt) =>
    prompt.map((message) => ({ ...message, providerOptions: undefined }));

  test('each request begins with the messages of the one before it, but for what is said last', () => {
    const grows = fc.property(conversation, ({ turns, dynamicFrom }) => {
      const said = requestsOf(turns, dynamicFrom).map((request) => promptOf(provider, request));
      said.slice(1).forEach((prompt, index) => {
        const before = said[index]!;
        const last = before.findLastIndex((message) => 'providerOptions' in message);
        const kept = unmarked(before.slice(0, isMarked ? last + 1 : -1));
        expect(unmarked(prompt).slice(0, kept.length)).toEqual(kept);
      });
    });
    fc.assert(grows, drawsOf(60));
  });

  test('what changes with every request is said at its end', () => {
    const [opened, worked] = requestsOf([1, 1]).map((one) => ({ ...one, dynamic: NEARLY_USED }));
    const late = { type: 'text', text: LATE };
    const own = [{ role: 'user', content: [late] }];
    const [, hello, ...rest] = promptOf(provider, opened!);
    expect(unmarked(isMarked ? rest : [hello!])).toEqual(
      isMarked ? own : [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, late] }],
    );
    const text = isMarked ? 'c0-0' : `c0-0\n\n${LATE}`;
    const results = promptOf(provider, worked!).slice(3);
    expect(unmarked(results)).toEqual([
      {
        role: 'tool',
        content: [expect.objectContaining({ output: { type: 'text', value: text } })],
      },
      ...(isMarked ? own : []),
    ]);
  });
});

test('a model of Anthropic behind the AI SDK is told early what changes, where it would forget its thinking', () => {
  const [, request] = requestsOf([1, 1]).map((one) => ({ ...one, dynamic: NEARLY_USED }));
  const parts: readonly Json[] = [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'tool-call', id: 'c0-0', args: {} },
  ];
  const raw: Json = { vendor: 'anthropic.messages', parts };
  const messages = request!.messages.map((message) =>
    message.role === 'assistant' ? { ...message, rawModel: request!.model, raw } : message,
  );
  const early = promptOf('anthropic.messages', { ...request!, messages });
  expect(early[0]!['content']).toBe(`Be brief.\n\n${NEARLY_USED[0]}`);
  expect(JSON.stringify(early.slice(1))).not.toContain('Budget');
  const thinking = { maxTokens: 2_000, adaptive: true };
  const adaptive = promptOf('anthropic.messages', { ...request!, messages, thinking });
  expect(adaptive[0]!['content']).toBe('Be brief.');
});

test('what changes ends a result with files as well', () => {
  const file = { mediaType: 'image/png', data: 'AA==' };
  const [, request] = requestsOf([1, 1]);
  const seen = { type: 'tool_result', id: 'c0-0', isError: false, text: 'A.', files: [file] };
  const messages = [...request!.messages.slice(0, -1), user(seen as Block)];
  const prompt = promptOf('mistral.chat', { ...request!, messages, dynamic: NEARLY_USED });
  const [result] = prompt.at(-1)!['content'] as readonly { readonly output: { value: unknown } }[];
  expect(result!.output.value).toEqual([
    { type: 'text', text: 'A.' },
    expect.objectContaining({ type: 'file' }),
    { type: 'text', text: LATE },
  ]);
});

test('packages of Anthropic and of Bedrock are told where to cache, others nothing', () => {
  const [, request] = requestsOf([1, 1]);
  const markedFor = (provider: string, model = 'm'): readonly boolean[] => {
    const vendor = { provider, specificationVersion: 'v4' } as const;
    const { prompt } = optionsOf({ ...request!, model }, vendor, undefined);
    return (prompt as readonly object[]).map((message) => 'providerOptions' in message);
  };
  expect(markedFor('vertex.anthropic.messages')).toEqual([true, true, false, true]);
  expect(markedFor('amazon-bedrock', 'eu.anthropic.claude-x')).toEqual([true, true, false, true]);
  expect(markedFor('amazon-bedrock', 'meta.llama')).toEqual([false, false, false, false]);
  expect(markedFor('google.generative-ai')).toEqual([false, false, false, false]);
});
