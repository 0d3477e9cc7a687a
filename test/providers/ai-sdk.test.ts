import { simulateReadableStream as streamV6 } from 'ai-v6';
import { MockLanguageModelV3 } from 'ai-v6/test';
import { MockLanguageModelV4, simulateReadableStream } from 'ai-v7/test';
import { defineConfig, defineAgent } from '../../authoring/index.js';
import type { LanguageModel } from '../../pure/language-model.js';
import { sourcesOf } from '../../pure/sources.js';
import { createAiSdkProvider } from '../../providers/ai-sdk.js';
import { resolveRoute, resolveRouteFor } from '../../providers/routes.js';
import { failureOf, requestOf } from './scripted-setup.js';

const USAGE = {
  inputTokens: { total: 10, noCache: 7, cacheRead: 3, cacheWrite: undefined },
  outputTokens: { total: 5, text: 2, reasoning: 3 },
};
const SIGNED = { google: { thoughtSignature: 'abc' } };
const finish = (unified: string, raw?: string) => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage: USAGE,
});
const CALL = [
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
  { type: 'reasoning-end', id: 'r', providerMetadata: SIGNED },
  {
    type: 'tool-call',
    toolCallId: 'c1',
    toolName: 'orders__read',
    input: '{"id":1}',
    providerMetadata: SIGNED,
  },
];

const v4 = (...chunks: readonly object[]): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    modelId: 'm',
    doStream: async () => ({ stream: simulateReadableStream({ chunks: chunks as never[] }) }),
  });
const v3 = (...chunks: readonly object[]): MockLanguageModelV3 =>
  new MockLanguageModelV3({
    modelId: 'm',
    doStream: async () => ({ stream: streamV6({ chunks: chunks as never[] }) }),
  });
const v2 = (...chunks: readonly unknown[]): LanguageModel => ({
  specificationVersion: 'v2',
  provider: 'old',
  modelId: 'm',
  doStream: async () => ({ stream: simulateReadableStream({ chunks: [...chunks] }) }),
});

function ask(model: LanguageModel, request: object = {}) {
  const progress = { signal: new AbortController().signal, onProgress: () => undefined };
  const provider = createAiSdkProvider({ name: 'fast', model });
  return provider.complete(requestOf({ model: 'm', ...request }), progress);
}

describe.each([
  ['v3', v3],
  ['v4', v4],
] as const)('a model of %s', (_, model) => {
  test('has a reply with thoughts, calls and what they cost', async () => {
    const reply = await ask(model(...CALL, finish('tool-calls', 'STOP')));
    expect(reply.blocks).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'tool_use', id: 'c1', tool: 'orders__read', args: { id: 1 } },
    ]);
    expect(reply).toMatchObject({ stop: 'tool_use', usageSource: 'reported' });
    expect(reply.usage).toEqual({ input: 7, output: 5, cacheRead: 3, cacheWrite: 0 });
  });

  test('gets the signatures of its thoughts back with their parts', async () => {
    const { blocks, raw } = await ask(model(...CALL, finish('tool-calls')));
    const second = model(finish('stop'));
    const messages = [{ role: 'assistant', blocks, raw, rawModel: 'm' }];
    await ask(second, { messages });
    const sent = JSON.stringify(second.doStreamCalls[0]?.prompt);
    expect(sent.match(/"thoughtSignature":"abc"/g)).toHaveLength(2);
    const other = model(finish('stop'));
    await ask(other, { messages: [{ ...messages[0], rawModel: 'another' }] });
    expect(JSON.stringify(other.doStreamCalls[0]?.prompt)).not.toContain('thoughtSignature');
  });

  test('tells what its reply cites, and is not told it again', async () => {
    const page = { sourceType: 'url', id: 's1', url: 'https://a.example', title: 'A' };
    const file = {
      sourceType: 'document',
      id: 's2',
      mediaType: 'application/pdf',
      title: 'Terms',
      filename: 'terms.pdf',
      providerMetadata: SIGNED,
    };
    const text = ['text-start', 'text-delta', 'text-end'].map((type) => ({
      type,
      id: 't',
      ...(type === 'text-delta' && { delta: 'So.' }),
    }));
    const cited = [page, file].map((one) => ({ type: 'source', ...one }));
    const huge = { type: 'source', ...page, title: 'x'.repeat(10_000) };
    const many = Array.from({ length: 5_000 }, () => ({ type: 'source', ...page }));
    const { blocks, raw } = await ask(model(...text, huge, ...cited, ...many, finish('stop')));
    expect(blocks).toEqual([{ type: 'text', text: 'So.' }]);
    expect(sourcesOf(raw)).toEqual([
      { kind: 'url', url: page.url, title: 'A' },
      {
        kind: 'document',
        title: 'Terms',
        mediaType: 'application/pdf',
        filename: 'terms.pdf',
      },
    ]);
    expect(JSON.stringify(raw).length).toBeLessThan(20_000);
    const second = model(finish('stop'));
    const messages = [
      { role: 'user', blocks: [{ type: 'text', text: 'Is it so?' }] },
      { role: 'assistant', blocks, raw, rawModel: 'm' },
    ];
    await ask(second, { messages });
    expect(second.doStreamCalls[0]?.prompt.at(-1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'So.' }],
    });
  });

  test.each([['interrupted'], ['other']])('that ends by %s was cut off', async (unified) => {
    const failure = await failureOf(ask(model(...CALL, finish(unified))));
    expect(failure).toMatchObject({ code: 'NetworkTimeout', details: { receivedInput: true } });
  });

  test('that ends without an end was cut off', async () => {
    expect((await failureOf(ask(model(...CALL)))).code).toBe('NetworkTimeout');
  });

  test('that ends by an error has no reply', async () => {
    const failed = ask(model(...CALL, finish('error', 'MALFORMED_FUNCTION_CALL')));
    expect((await failureOf(failed)).code).toBe('MalformedReply');
  });
});

test('a model of v2 has its flat usage read, and its unknown end is a cut', async () => {
  const text = [
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'Hi' },
  ];
  const usage = { inputTokens: 9, outputTokens: 1, totalTokens: 14, cachedInputTokens: 4 };
  const reply = await ask(v2(...text, { type: 'finish', finishReason: 'stop', usage }));
  expect(reply.usage).toEqual({ input: 5, output: 5, cacheRead: 4, cacheWrite: 0 });
  const cut = v2(...text, { type: 'finish', finishReason: 'unknown', usage: {} });
  expect((await failureOf(ask(cut))).code).toBe('NetworkTimeout');
});

test.each([[null], [7], ['text'], [{}], [{ type: 'text-delta', id: '0', delta: 7 }]])(
  'the part %j is no reply',
  async (part) => {
    expect((await failureOf(ask(v2(part)))).code).toBe('MalformedReply');
  },
);

test('a run that wants another model than the name stands for gets none', async () => {
  expect((await failureOf(ask(v4(), { model: 'older' }))).code).toBe('InvalidRequest');
});

describe('models of a configuration', () => {
  const agents = [defineAgent({ name: 'a', model: 'fast', instructions: 'Help.', tools: [] })];
  const prices = { input: 1, output: 2, cacheRead: 0, cacheWrite: 1 };

  test('a model with window and prices is a route', () => {
    const entry = { model: v4(), contextWindow: 1000, maxOutputTokens: 100, prices };
    const config = defineConfig({ agents, models: { fast: entry } });
    expect(resolveRoute('fast', config)).toMatchObject({ provider: 'fast:m', model: 'm', prices });
  });

  test('a model without prices is refused where money is limited', () => {
    const config = defineConfig({ agents, models: { fast: v3() } });
    const limited = () => resolveRouteFor('fast', config, { maxCostMicroUsd: 5 });
    expect(limited).toThrow(/does not say the context window, output limit, prices of model fast/);
    const free = resolveRouteFor('fast', config, { maxCostMicroUsd: 'unlimited' });
    expect(free.model).toBe('m');
  });

  test.each([['google/gemini'], [{}], [{ specificationVersion: 'v1' }], [null]])(
    '%j is no model',
    (model) => {
      expect(() => defineConfig({ agents, models: { fast: model as never } })).toThrow(
        /The model fast cannot be asked/,
      );
    },
  );
});
