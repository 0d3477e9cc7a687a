/** Edits by which Anthropic leaves parts of a conversation out: as they are asked for, and what replies say of them. */
import type { Json } from '../../core/json/json.js';
import type { ToolOffer } from '../../core/state/transcript.js';
import type { ModelReply, ModelRequest } from '../../providers/provider.js';
import { replyTo } from './canned.js';
import { lastBody, requestOf, serving, stopAll } from './scripted-setup.js';

afterEach(stopAll);

const TOOLS = { type: 'clear_tool_uses_20250919', exclude_tools: ['crm.read', 'crm.gone'] };
const THINKING = { type: 'clear_thinking_20251015' };
const requestOptions = { context_management: { edits: [THINKING, TOOLS] } };
const ON_THE_WIRE = { ...TOOLS, exclude_tools: ['crm__read', 'crm__gone'] };
const tools: readonly ToolOffer[] = [
  {
    name: 'crm.read',
    version: '1',
    wireName: 'crm__read',
    description: 'Reads.',
    inputSchema: { type: 'object' },
  },
];

describe('a request', () => {
  const bodyOf = async (request: Partial<ModelRequest>) => {
    const { ask, model } = await serving([{ text: 'x' }], { requestOptions });
    await ask({ tools, ...request });
    return lastBody(model);
  };

  test('has the edits with names of tools as the vendor knows them', async () => {
    const thinking = { maxTokens: 2_000, adaptive: true };
    expect(await bodyOf({ thinking })).toMatchObject({
      context_management: { edits: [THINKING, ON_THE_WIRE] },
    });
  });

  test.each([{}, { thinking: { maxTokens: 0, adaptive: true } }])(
    'without thinking does not ask to clear any: %#',
    async (request) => {
      expect(await bodyOf(request)).toMatchObject({ context_management: { edits: [ON_THE_WIRE] } });
    },
  );

  test('for a summary has the whole conversation', async () => {
    const metadata = { runId: 'run-1', call: 1, purpose: 'compaction' } as const;
    expect(await bodyOf({ metadata })).not.toHaveProperty('context_management');
  });

  test('asks for the feature beside those that the run asks for', async () => {
    const asked: (string | null)[] = [];
    const send: typeof fetch = (_, init) => {
      asked.push(new Headers(init?.headers).get('anthropic-beta'));
      return Promise.resolve(Response.json({ type: 'error' }, { status: 400 }));
    };
    for (const betas of [[], ['files'], ['context-management-2025-06-27']]) {
      const { ask } = await serving([], { requestOptions, fetch: send });
      await ask({ betas }).catch(() => undefined);
    }
    const { ask } = await serving([], { fetch: send });
    await ask().catch(() => undefined);
    const own = 'context-management-2025-06-27';
    expect(asked).toEqual([own, `files,${own}`, own, null]);
  });
});

describe('a reply', () => {
  const CLEARED: Json = {
    applied_edits: [
      { type: THINKING.type, cleared_thinking_turns: 2, cleared_input_tokens: 500 },
      { type: TOOLS.type, cleared_tool_uses: 9, cleared_input_tokens: 40_000 },
    ],
  };
  const usage = { input: 1_000, output: 10, cacheRead: 200, cacheWrite: 0 };
  const replyWith = async (contextManagement: Json | undefined): Promise<ModelReply> => {
    const told = contextManagement === undefined ? {} : { contextManagement };
    const { ask } = await serving([{ text: 'x', usage, ...told }], { requestOptions });
    return ask();
  };

  test('is billed without what was left out, which is a part of the conversation all the same', async () => {
    expect(await replyWith(CLEARED)).toMatchObject({
      usage,
      contextTokens: 41_710,
      clearedTokens: 40_500,
    });
  });

  test('from which nothing was left out is as long as it counts', async () => {
    const reply = await replyWith({ applied_edits: [] });
    expect(reply).not.toHaveProperty('contextTokens');
    expect(reply).not.toHaveProperty('clearedTokens');
  });

  test.each<Json | undefined>([undefined, null, {}, { applied_edits: 'none' }])(
    'that does not say whether something was left out does not say how long the conversation is: %j',
    async (told) => {
      expect(await replyWith(told)).toMatchObject({ contextTokens: 'unknown' });
    },
  );

  test('that was interrupted does not either', async () => {
    const stop = new AbortController();
    const { ask, model } = await serving(
      [{ text: 'a long text', usage, chunks: 5, stallAfterChunks: 4, contextManagement: CLEARED }],
      { requestOptions },
    );
    const asked = ask({}, stop.signal);
    while (model.requests().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    expect(await asked).toMatchObject({ partial: true, contextTokens: 'unknown' });
  });

  test('to a request without edits is believed as it is', async () => {
    const { ask } = await serving([{ text: 'x', usage }]);
    expect(await ask()).not.toHaveProperty('contextTokens');
  });

  test('that comes whole says the same', async () => {
    const whole = {
      type: 'message',
      model: requestOf().model,
      content: [{ type: 'text', text: 'x' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1_000, output_tokens: 10 },
      context_management: CLEARED,
    };
    const headers = { 'content-type': 'application/json' };
    const pieces = [Buffer.from(JSON.stringify(whole))];
    expect(await replyTo('messages', { pieces, headers })).toMatchObject({
      contextTokens: 41_510,
      clearedTokens: 40_500,
    });
  });

  test.each([-1, 0.5, '7', 2 ** 60])('says no count that is none: %j', async (tokens) => {
    const edits = [{ type: TOOLS.type, cleared_input_tokens: tokens }];
    expect(await replyWith({ applied_edits: edits })).not.toHaveProperty('clearedTokens');
  });
});
