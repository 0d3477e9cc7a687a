import { inspect } from 'node:util';
import type { Block, ToolOffer } from '../../core/state/transcript.js';
import { createOpenAiChatProvider } from '../../providers/openai-chat.js';
import { chatBody } from '../../providers/openai/chat-request.js';
import type { ModelReply, ModelRequest, RequestMessage } from '../../providers/provider.js';
import { scriptOf, type ScriptedAnswer } from '../../providers/scripted/script.js';
import { startScriptedModel } from '../../providers/scripted/server.js';
import { signatureOf } from '../../providers/scripted/render.js';
import { failureOf, requestOf } from './scripted-setup.js';

const said = (text: string): Block => ({ type: 'text', text });
const use = (id: string): Block => ({ type: 'tool_use', id, tool: 'orders.read', args: { id } });
const result = (id: string, isError: boolean, text: string): Block => ({
  type: 'tool_result',
  id,
  isError,
  text,
});
const OFFER: ToolOffer = {
  name: 'orders.read',
  version: '1',
  wireName: 'orders__read',
  description: 'Reads.',
  inputSchema: { type: 'object' },
};
const CONVERSATION: readonly RequestMessage[] = [
  { role: 'user', blocks: [said('Hi')] },
  { role: 'assistant', blocks: [use('c1'), use('c2')] },
  { role: 'user', blocks: [said('And now?'), result('c1', false, 'ok'), result('c2', true, 'no')] },
];

async function answering(
  replies: readonly ScriptedAnswer[],
  use: (ask: (request?: Partial<ModelRequest>) => Promise<ModelReply>) => Promise<void>,
): Promise<void> {
  const model = await startScriptedModel({ script: scriptOf(replies) });
  const provider = createOpenAiChatProvider({ apiKey: 'k', baseUrl: `${model.baseUrl}/v1` });
  const progress = { signal: new AbortController().signal, onProgress: () => undefined };
  try {
    await use((request) => provider.complete(requestOf(request), progress));
  } finally {
    await model.stop();
  }
}

const sse = (...chunks: readonly object[]): ScriptedAnswer => ({
  garbage: [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join(''),
});
const delta = (part: object, finish_reason: string | null = null): object => ({
  id: 'x',
  choices: [{ index: 0, delta: part, finish_reason }],
});
const callDelta = (part: object): object => delta({ tool_calls: [part] });

describe('a chat completion request', () => {
  test('has the system first, one tool message per result, and results before text', () => {
    const body = chatBody(requestOf({ messages: CONVERSATION, tools: [OFFER] }), 'openai');
    const call = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'orders__read', arguments: JSON.stringify({ id }) },
    });
    expect(body['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call('c1'), call('c2')] },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      {
        role: 'tool',
        tool_call_id: 'c2',
        content: '{"error":true,"code":"tool_error","message":"no"}',
      },
      { role: 'user', content: 'And now?' },
    ]);
  });

  test('says to a plain server only what every server takes', () => {
    const metadata = { runId: 'r', call: 0 };
    const request = requestOf({ messages: CONVERSATION, temperature: 0, metadata } as never);
    const { messages, ...rest } = chatBody(request, 'plain');
    expect(messages).toEqual(chatBody(request, 'litellm')['messages']);
    expect(rest).toEqual({
      model: request.model,
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: request.maxTokens,
      temperature: 0,
    });
    const thinking = { maxTokens: 4_096, adaptive: false };
    expect(chatBody({ ...request, thinking }, 'plain')).toMatchObject({
      reasoning_effort: 'medium',
    });
  });

  test('streams with usage, and names limit and temperature as its dialect does', () => {
    const request = requestOf({ temperature: 1, maxTokens: 16_384, tools: [OFFER] });
    expect(chatBody(request, 'openai')).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 16_384,
      temperature: 1,
      prompt_cache_key: 'run-1',
      tools: [{ type: 'function', function: { name: 'orders__read' } }],
    });
    expect(chatBody(request, 'litellm')).toMatchObject({
      max_tokens: 16_384,
      temperature: 1,
      user: 'run-1',
    });
  });

  test('tells a gateway of thinking and betas in the words of the vendor behind it', () => {
    const thinking = { maxTokens: 5_000, adaptive: false };
    const request = requestOf({ thinking, temperature: 1, betas: ['a', 'b'], maxTokens: 9_000 });
    const body = chatBody(request, 'litellm');
    expect(body).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 5_000 },
      extra_headers: { 'anthropic-beta': 'a,b' },
    });
    expect(body['temperature']).toBeUndefined();
    expect(chatBody(request, 'openai')).toMatchObject({ reasoning_effort: 'medium' });
  });

  test('lets no tool be called, or only one at a time, when it is told so', () => {
    const request = requestOf({ tools: [OFFER], toolChoice: 'none', parallelCalls: false });
    expect(chatBody(request, 'openai')).toMatchObject({
      tool_choice: 'none',
      parallel_tool_calls: false,
    });
  });

  test('gives signed thinking back to its model only', async () => {
    const thoughtful = { thinking: 'Let me see…', calls: [{ tool: 'orders.read' }], chunks: 3 };
    await answering([thoughtful], async (ask) => {
      const { blocks, raw, model } = await ask();
      const thinking = 'Let me see…';
      const thinking_blocks = [{ type: 'thinking', thinking, signature: signatureOf(thinking) }];
      expect(blocks[0]).toEqual({ type: 'thinking', text: thinking });
      const messages: readonly RequestMessage[] = [
        { role: 'user', blocks: [said('Hi')] },
        { role: 'assistant', blocks, raw, rawModel: model },
      ];
      const sent = (to: string) =>
        JSON.stringify(chatBody(requestOf({ messages, model: to }), 'litellm'));
      expect(sent(model)).toContain(JSON.stringify({ thinking_blocks }).slice(1, -1));
      expect(sent('another')).not.toContain('thinking');
    });
  });
});

describe('a chat completion stream', () => {
  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['tool_calls', 'tool_use'],
    ['function_call', 'tool_use'],
    ['odd', 'unknown'],
  ])('that finishes with %s stops with %s', async (reason, stop) => {
    await answering([sse(delta({ content: 'x' }), delta({}, reason))], async (ask) => {
      const reply = await ask();
      expect(reply).toMatchObject({ stop, usageSource: 'absent' });
      expect(reply.usage.input).toBe(0);
    });
  });

  test('with calls has stopped for them, whatever it says', async () => {
    const call = { index: 0, id: 'a', function: { name: 't', arguments: '{}' } };
    await answering([sse(callDelta(call), delta({}, 'stop'))], async (ask) => {
      expect((await ask()).stop).toBe('tool_use');
    });
  });

  test('with a refusal is refused, and its text is the reason', async () => {
    await answering([sse(delta({ refusal: 'I will not.' }), delta({}, 'stop'))], async (ask) => {
      expect(await ask()).toMatchObject({ stop: 'refusal', refusal: 'I will not.', blocks: [] });
    });
  });

  test('whose calls all have one index keeps them apart by id', async () => {
    const calls = ['a', 'b'].map((id) =>
      callDelta({ index: 0, id, function: { name: 't', arguments: `{"id":"${id}"}` } }),
    );
    await answering([sse(...calls, delta({}, 'tool_calls'))], async (ask) => {
      expect((await ask()).blocks).toMatchObject([
        { id: 'a', args: { id: 'a' } },
        { id: 'b', args: { id: 'b' } },
      ]);
    });
  });

  test.each([
    ['of two messages', [delta({ content: 'x' }), { ...delta({}, 'stop'), id: 'y' }]],
    ['with content after its end', [delta({}, 'stop'), delta({ content: 'x' })]],
    ['with calls out of order', [callDelta({ index: 1, id: 'a', function: { name: 't' } })]],
    [
      'with two names of a call',
      [
        callDelta({ index: 0, id: 'a', function: { name: 't' } }),
        callDelta({ index: 0, function: { name: 'u' } }),
      ],
    ],
    ['without a finish reason', [delta({ content: 'x' })]],
  ])('%s is no reply', async (_, chunks) => {
    await answering([sse(...chunks)], async (ask) => {
      expect((await failureOf(ask())).code).toBe('MalformedReply');
    });
  });

  test('that ends after its finish reason without saying so is complete', async () => {
    const chunks = [delta({ content: 'x' }), delta({}, 'stop')];
    const garbage = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    await answering([{ garbage }], async (ask) => {
      expect(await ask()).toMatchObject({ stop: 'end_turn', blocks: [said('x')] });
    });
  });

  test.each([
    [{ prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 }, [100, 5, 0, 0]],
    [
      { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } },
      [40, 5, 60, 0],
    ],
    [
      {
        prompt_tokens: 100,
        completion_tokens: 5,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 30,
      },
      [10, 5, 60, 30],
    ],
    // Reasoning that only the total counts is billed as well.
    [{ prompt_tokens: 100, completion_tokens: 5, total_tokens: 180 }, [100, 80, 0, 0]],
  ])('with the usage %j has it without what was cached', async (usage, expected) => {
    await answering(
      [sse(delta({ content: 'x' }), { ...delta({}, 'stop'), usage })],
      async (ask) => {
        const { input, output, cacheRead, cacheWrite } = (await ask()).usage;
        expect([input, output, cacheRead, cacheWrite]).toEqual(expected);
      },
    );
  });
});

describe('an error of the API', () => {
  test.each([
    [{ status: 429, errorCode: 'insufficient_quota' }, 'RateLimited', false],
    [{ status: 429, message: 'Request too large for gpt-4o' }, 'RateLimited', false],
    [{ status: 400, errorCode: 'context_length_exceeded' }, 'PromptTooLong', false],
    [{ status: 400, message: 'litellm.ContextWindowExceededError: x' }, 'PromptTooLong', false],
    [{ status: 400, errorCode: 'content_filter' }, 'ContentRefused', false],
    [{ status: 400, errorType: 'budget_exceeded' }, 'AuthError', false],
    [{ status: 503, message: 'The engine is currently overloaded' }, 'Overloaded', true],
    [{ status: 409 }, 'RateLimited', true],
  ])('%j is %s', async (failure, code, retry) => {
    await answering([failure], async (ask) => {
      const found = await failureOf(ask());
      expect([found.code, found.details.shouldRetry]).toEqual([code, retry]);
    });
  });

  test('that repeats the key is told without it', async () => {
    const apiKey = 'sk-0123456789abcdefghij';
    const message = `Incorrect API key provided: ${apiKey}`;
    const model = await startScriptedModel({ script: scriptOf([{ status: 401, message }]) });
    try {
      const provider = createOpenAiChatProvider({ apiKey, baseUrl: `${model.baseUrl}/v1` });
      const progress = { signal: new AbortController().signal, onProgress: () => undefined };
      const error = await provider
        .complete(requestOf(), progress)
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'AuthError' });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(apiKey);
    } finally {
      await model.stop();
    }
  });
});
