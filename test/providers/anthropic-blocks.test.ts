/** Every kind of block and every reason to stop that Anthropic's API has, on the way in and back out. */
import fc from 'fast-check';
import type { Json } from '../../core/json/json.js';
import { anthropicBody } from '../../providers/anthropic/request.js';
import type { ModelReply, ModelRequest, RequestMessage } from '../../providers/provider.js';
import { sourcesOf } from '../../pure/sources.js';
import { assembled } from './assembled.js';
import { outcomeOf, replyTo } from './canned.js';
import { requestOf } from './scripted-setup.js';

type Block = { readonly [key: string]: Json };

const MODEL = 'scripted-model';
const USAGE = { input_tokens: 10, output_tokens: 5 };
const THINKING: Block = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
const REDACTED: Block = { type: 'redacted_thinking', data: 'b3BhcXVl' };
const CALL: Block = { type: 'tool_use', id: 'c1', name: 'orders__read', input: {} };

/** What a message holds when it begins, and the pieces in which the rest comes. */
interface Streamed {
  readonly start: Block;
  readonly deltas: readonly Block[];
}

/** A block in the pieces in which the API streams it. */
function streamed(block: Block, cuts: number): Streamed {
  const pieces = (text: Json | undefined): readonly string[] => split(text as string, cuts);
  switch (block['type']) {
    case 'text': {
      const { citations, ...plain } = block;
      const cited = Array.isArray(citations) ? (citations as readonly Json[]) : [];
      return {
        start: { ...plain, text: '' },
        deltas: [
          ...cited.map((citation) => ({ type: 'citations_delta', citation })),
          ...pieces(block['text']).map((text) => ({ type: 'text_delta', text })),
        ],
      };
    }
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          ...pieces(block['thinking']).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block['signature'] ?? '' },
        ],
      };
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const written = JSON.stringify(block['input']);
      // A tool without arguments may get no piece of them at all.
      const deltas = written === '{}' ? [] : split(written, cuts);
      return {
        start: { ...block, input: {} },
        deltas: deltas.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      };
    }
    case 'compaction': {
      const { content = null, encrypted_content = null } = block;
      return {
        start: { ...block, content: null, encrypted_content: null },
        deltas: [{ type: 'compaction_delta', content, encrypted_content }],
      };
    }
    default:
      return { start: block, deltas: [] };
  }
}

function split(text: string, cuts: number): readonly string[] {
  const size = Math.max(1, Math.ceil(text.length / cuts));
  const count = Math.ceil(text.length / size);
  return Array.from({ length: count }, (_, index) => text.slice(index * size, (index + 1) * size));
}

interface Sent {
  readonly content: readonly Block[];
  readonly stop?: string;
  readonly usage?: Json;
  readonly cuts?: number;
}

function bytesOf({ content, stop = 'end_turn', usage = USAGE, cuts = 2 }: Sent): Uint8Array {
  const events: Block[] = [
    { type: 'message_start', message: { type: 'message', model: MODEL, content: [], usage } },
  ];
  content.forEach((block, index) => {
    const { start, deltas } = streamed(block, cuts);
    events.push({ type: 'content_block_start', index, content_block: start });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  });
  events.push({ type: 'message_delta', delta: { stop_reason: stop }, usage });
  events.push({ type: 'message_stop' });
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}

function replyOf(sent: Sent, request: Partial<ModelRequest> = {}): Promise<ModelReply> {
  return replyTo('messages', { pieces: [bytesOf(sent)] }, request);
}

/** The message as the next request says it. */
function saidAgain(reply: ModelReply, changes: Partial<ModelRequest> = {}): readonly Block[] {
  const { blocks, raw } = reply;
  const messages: readonly RequestMessage[] = [
    { role: 'user', blocks: [{ type: 'text', text: 'Hello' }] },
    { role: 'assistant', blocks, raw, rawModel: MODEL },
  ];
  const body = anthropicBody(requestOf({ messages, ...changes }));
  const sent = body.messages.filter(({ role }) => role === 'assistant');
  return sent.flatMap(({ content }) => content as unknown as readonly Block[]);
}

function hostedTool(name: string, more: Block = {}): ModelRequest['tools'][number] {
  const declaration = { type: `${name}_20260120`, name, ...more };
  return {
    name,
    version: '1',
    wireName: name,
    description: '',
    inputSchema: {},
    hosted: { provider: 'anthropic', declaration },
  };
}

test('a message that is interrupted among its citations keeps those that have arrived, and they go back', () => {
  const citations = ['a', 'b', 'c'].map((name) => ({
    type: 'web_search_result_location',
    url: `https://${name}.example`,
    title: name,
    cited_text: 'So it is.',
    encrypted_index: 'b3BhcXVl',
  }));
  const delta = (one: Block): Block => ({ type: 'content_block_delta', index: 0, delta: one });
  const events: readonly Block[] = [
    { type: 'message_start', message: { type: 'message', model: MODEL, content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    delta({ type: 'text_delta', text: 'So' }),
    ...citations.map((citation) => delta({ type: 'citations_delta', citation })),
  ];
  const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  const cut = bytes.subarray(0, bytes.indexOf('https://c.example'));
  const { complete, reply } = assembled('messages', [cut]);
  expect(complete).toBe(false);
  expect(reply?.raw).toEqual([{ type: 'text', text: 'So', citations: citations.slice(0, 2) }]);
  expect(sourcesOf(reply?.raw).map(({ title }) => title)).toEqual(['a', 'b']);
  expect(saidAgain(reply!)).toEqual(reply?.raw);
});

describe('a message of many kinds of blocks', () => {
  const words = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
  const spoken = words.filter((text) => text.trim() !== '');
  const input = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), words, {
    maxKeys: 2,
    noNullPrototype: true,
  });
  const block: fc.Arbitrary<readonly Block[]> = fc.oneof(
    spoken.map((text) => [{ type: 'text', text }]),
    spoken.map((text) => [{ type: 'text', text, citations: [{ type: 'x', cited_text: text }] }]),
    words.map((thinking) => [{ ...THINKING, thinking }]),
    fc.constant([REDACTED]),
    fc
      .uuid()
      .chain((id) =>
        input.map((args): readonly Block[] => [
          { ...CALL, id, input: args, caller: { type: 'direct' } },
        ]),
      ),
    fc.uuid().map((id): readonly Block[] => [
      { type: 'server_tool_use', id, name: 'web_search', input: { query: id } },
      { type: 'web_search_tool_result', tool_use_id: id, content: [] },
    ]),
    fc.constant([{ type: 'fallback', from: { model: 'a' }, to: { model: 'b' }, trigger: null }]),
    words.map((content) => [{ type: 'compaction', content, encrypted_content: 'b3BhcXVl' }]),
    fc.constant([{ type: 'of_tomorrow', anything: [1, { deep: true }] }]),
  );
  const tools = [hostedTool('web_search')];

  test('goes back unchanged to its model, and to another without what is bound to it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(block, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 4 }),
        async (parts, cuts) => {
          const content = parts.flat();
          const reply = await replyOf({ content, cuts });
          expect(reply.raw).toEqual(content);
          expect(saidAgain(reply, { tools })).toEqual(content);
          const elsewhere = saidAgain(reply, { tools, model: 'another' });
          expect(elsewhere).toEqual(
            content.flatMap(
              ({ type, text = '', id = '', name = '', input: args = {} }): Block[] => {
                if (type === 'text') return [{ type, text }];
                return type === 'tool_use' ? [{ type, id, name, input: args }] : [];
              },
            ),
          );
        },
      ),
      { numRuns: 150 },
    );
  });

  test('is the same when it comes whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 6 }), async (parts) => {
        const content = parts.flat();
        const message = { type: 'message', model: MODEL, content, stop_reason: 'end_turn' };
        const body = Buffer.from(JSON.stringify({ ...message, usage: USAGE }));
        const headers = { 'content-type': 'application/json' };
        const whole = await outcomeOf('messages', { pieces: [body], headers });
        expect(whole).toEqual(await replyOf({ content }));
      }),
      { numRuns: 50 },
    );
  });
});

describe('a reply', () => {
  test.each([
    ['end_turn', 'end_turn'],
    ['max_tokens', 'max_tokens'],
    ['stop_sequence', 'stop_sequence'],
    ['pause_turn', 'pause_turn'],
    ['compaction', 'pause_turn'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'context_exceeded'],
    ['of_tomorrow', 'unknown'],
  ])('that stopped with %s is %s', async (stop, expected) => {
    const content = [{ type: 'text', text: 'So.' }];
    expect((await replyOf({ content, stop })).stop).toBe(expected);
  });

  test('names the model that took over', async () => {
    const to = { model: 'the-other' };
    const content: readonly Block[] = [
      { type: 'fallback', from: { model: MODEL }, to, trigger: { type: 'refusal' } },
      { type: 'text', text: 'I may.' },
    ];
    expect((await replyOf({ content })).model).toBe('the-other');
  });

  test('counts summaries as paid, and the last round as what the conversation takes', async () => {
    const round = (type: string, input_tokens: number, output_tokens: number): Block => ({
      type,
      input_tokens,
      output_tokens,
      cache_read_input_tokens: 1,
    });
    const usage = {
      input_tokens: 300,
      output_tokens: 30,
      cache_read_input_tokens: 2,
      iterations: [
        round('compaction', 5_000, 200),
        round('message', 100, 10),
        round('advisor_message', 9_000, 90),
        round('message', 200, 20),
      ],
    };
    const reply = await replyOf({ content: [{ type: 'text', text: 'So.' }], usage });
    expect(reply.usage).toEqual({ input: 5_300, output: 230, cacheRead: 3, cacheWrite: 0 });
    expect(reply.contextTokens).toBe(221);
  });

  test('of one round takes what was counted', async () => {
    const usage = { ...USAGE, iterations: [{ type: 'message', ...USAGE }] };
    const reply = await replyOf({ content: [{ type: 'text', text: 'So.' }], usage });
    expect(reply.contextTokens).toBeUndefined();
  });

  test('does not guess at arguments that no JSON can hold', async () => {
    const whole =
      '{"type":"message","model":"m","stop_reason":"tool_use","content":[{"type":"tool_use",' +
      '"id":"c","name":"pay","input":{"cents":1e999}}],"usage":{"output_tokens":1}}';
    const headers = { 'content-type': 'application/json' };
    const { blocks } = await replyTo('messages', { pieces: [Buffer.from(whole)], headers });
    expect(blocks).toMatchObject([{ args: { $unparsed: expect.any(String) } }]);
  });
});

describe('what the vendor ran', () => {
  const use: Block = { type: 'server_tool_use', id: 's', name: 'bash_code_execution', input: {} };
  const result: Block = {
    type: 'bash_code_execution_tool_result',
    tool_use_id: 's',
    content: { type: 'bash_code_execution_result', stdout: '2' },
  };
  const content = [use, result, { type: 'text', text: 'Two.' }];
  const tools = [hostedTool('code_execution')];

  test('is told under the name of the tool that was offered, whatever it calls itself', async () => {
    const { hosted } = await replyOf({ content }, { tools });
    expect(hosted).toMatchObject([{ id: 's', tool: 'code_execution', isError: false }]);
  });

  test('goes back while its tool is offered', async () => {
    const reply = await replyOf({ content }, { tools });
    expect(saidAgain(reply, { tools })).toEqual(content);
    expect(saidAgain(reply)).toEqual([{ type: 'text', text: 'Two.' }]);
  });

  test('and waits for a call of ours is kept with that call', async () => {
    const called: Block = { ...CALL, caller: { type: 'code_execution_20260120', tool_id: 's' } };
    const reply = await replyOf({ content: [use, called], stop: 'tool_use' }, { tools });
    expect(saidAgain(reply, { tools })).toEqual([use, called]);
  });

  test('and called from costs nothing, which says nothing of the size of the conversation', async () => {
    const usage = { input_tokens: 0, output_tokens: 0 };
    const message = {
      type: 'message',
      model: MODEL,
      content: [CALL],
      stop_reason: 'tool_use',
      usage,
    };
    const sizeAfter = async (text: string, counted: Block = usage) => {
      const start = { type: 'message_start', message: { ...message, usage: counted } };
      const events = [start, { type: 'message_stop' }];
      const bytes = Buffer.from(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''));
      const messages = [{ role: 'user' as const, blocks: [{ type: 'text' as const, text }] }];
      return replyTo('messages', { pieces: [bytes] }, { messages });
    };
    const reply = await sizeAfter('x'.repeat(30_000));
    expect(reply.usage).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });
    expect(reply.contextTokens).toBeGreaterThan(10_000);
    expect((await sizeAfter('x')).contextTokens).toBeLessThan(1_000);
    expect((await sizeAfter('x', USAGE)).contextTokens).toBeUndefined();
  });

  test('beside a call of ours goes back with it, and its result is told however late it comes', async () => {
    const beside: Block = { ...CALL, id: 'c2' };
    const first = await replyOf({ content: [use, beside], stop: 'tool_use' }, { tools });
    expect(saidAgain(first, { tools })).toEqual([use, beside]);
    const second = await replyOf({ content: [CALL], stop: 'tool_use' }, { tools });
    const messages = [first, second].map(({ blocks, raw }) => ({
      role: 'assistant' as const,
      blocks,
      raw,
      rawModel: MODEL,
    }));
    const { hosted } = await replyOf({ content: [result] }, { tools, messages });
    expect(hosted).toMatchObject([{ id: 's', tool: 'code_execution' }]);
  });
});

describe('a request', () => {
  const bodyOf = (changes: Partial<ModelRequest>) =>
    JSON.parse(JSON.stringify(anthropicBody(requestOf(changes)))) as Block;

  test('marks the last tool that is part of the static zone', () => {
    const tools = [hostedTool('a'), hostedTool('b', { defer_loading: true })];
    const marked = (bodyOf({ tools })['tools'] as readonly Block[]).map((tool) =>
      Object.hasOwn(tool, 'cache_control'),
    );
    expect(marked).toEqual([true, false]);
  });

  test('says where no two calls may come at once', () => {
    const tools = [hostedTool('a')];
    expect(bodyOf({ tools, parallelCalls: false })['tool_choice']).toEqual({
      type: 'auto',
      disable_parallel_tool_use: true,
    });
    expect(bodyOf({ tools, parallelCalls: false, toolChoice: 'none' })['tool_choice']).toEqual({
      type: 'none',
    });
    expect(bodyOf({ parallelCalls: false })).not.toHaveProperty('tool_choice');
  });

  test.each([
    [undefined, null],
    [[], null],
    [['files-api-2025-04-14', 'compact-2026-01-12'], 'files-api-2025-04-14,compact-2026-01-12'],
  ])('with betas %j asks for %s', async (betas, expected) => {
    const sent: (string | null)[] = [];
    const answer = { pieces: [bytesOf({ content: [{ type: 'text', text: 'x' }] })] };
    const onRequest = (headers: Headers): void => void sent.push(headers.get('anthropic-beta'));
    await replyTo('messages', { ...answer, onRequest }, betas === undefined ? {} : { betas });
    expect(sent).toEqual([expected]);
  });
});
