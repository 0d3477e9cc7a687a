import { setTimeout as sleep } from 'node:timers/promises';
import type { Block } from '../../core/state/transcript.js';
import { unparsedText } from '../../providers/tool-arguments.js';
import { signatureOf } from '../../providers/scripted/render.js';
import type { ScriptedCall, ScriptedMessage } from '../../providers/scripted/script.js';
import { until } from '../until.js';
import { failureOf, lastBody, serving, stopAll } from './scripted-setup.js';

/** What was sent before the stall has arrived by then, on a busy machine as well. */
const STALLED_MS = 1_000;

afterEach(stopAll);

describe('a reply of the Anthropic provider', () => {
  test('is the text with its usage, stop reason and model', async () => {
    const usage = { input: 11, output: 7, cacheRead: 5, cacheWrite: 3 };
    const { ask } = await serving([{ text: 'Grüße, 世界 👋', usage, chunks: 4 }]);
    const reply = await ask();
    expect(reply).toMatchObject({
      blocks: [{ type: 'text', text: 'Grüße, 世界 👋' }],
      stop: 'end_turn',
      usage,
      usageSource: 'reported',
      model: 'scripted-model',
      incompleteCalls: 0,
    });
    expect(reply.partial).toBeUndefined();
  });

  test('has all parallel calls in order, with their wire names', async () => {
    const calls = [
      { tool: 'orders.read', input: { id: 'o1' } },
      { tool: 'orders.read', input: { id: 'o2' } },
      { tool: 'now' },
    ];
    const { ask } = await serving([{ text: 'Looking.', calls, chunks: 3 }]);
    const reply = await ask();
    expect(reply.stop).toBe('tool_use');
    expect(reply.blocks).toEqual([
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: 'toolu_0_0', tool: 'orders__read', args: { id: 'o1' } },
      { type: 'tool_use', id: 'toolu_0_1', tool: 'orders__read', args: { id: 'o2' } },
      { type: 'tool_use', id: 'toolu_0_2', tool: 'now', args: {} },
    ]);
  });

  test('keeps 200 parallel calls apart', async () => {
    const calls = Array.from({ length: 200 }, (_, n) => ({ tool: 't', input: { n } }));
    const { ask } = await serving([{ calls }]);
    const { blocks } = await ask();
    expect(blocks).toHaveLength(200);
    expect(new Set(blocks.map((block) => (block.type === 'tool_use' ? block.id : ''))).size).toBe(
      200,
    );
  });

  test.each([
    ['cut JSON', '{"a": 1'],
    ['a list', '[1]'],
    ['a number out of range', '{"a": 1e999}'],
    ['deep nesting', `{"a": ${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('marks %s as arguments that could not be read', async (_, rawInput) => {
    const { ask } = await serving([{ calls: [{ tool: 't', rawInput }] }]);
    const [block] = (await ask()).blocks;
    expect(block?.type).toBe('tool_use');
    const text = block?.type === 'tool_use' ? unparsedText(block.args) : undefined;
    expect(text?.slice(0, 50)).toBe(rawInput.slice(0, 50));
    expect(text?.length).toBeLessThan(2100);
  });

  test('takes a __proto__ in arguments as data', async () => {
    const { ask } = await serving([
      { calls: [{ tool: 't', rawInput: '{"__proto__": {"x": 1}}' }] },
    ]);
    const [block] = (await ask()).blocks;
    expect(JSON.stringify(block)).toContain('"__proto__":{"x":1}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('has unique call ids, also against the conversation, where the model repeats or omits them', async () => {
    const calls = ['dup', 'dup', '', 'old', 'a b'].map((id) => ({ id, tool: 't', input: {} }));
    const { ask } = await serving([{}, { calls }]);
    const reply = await ask({
      messages: [
        { role: 'user', blocks: [{ type: 'text', text: 'Hi' }] },
        { role: 'assistant', blocks: [{ type: 'tool_use', id: 'old', tool: 't', args: {} }] },
        { role: 'user', blocks: [{ type: 'tool_result', id: 'old', isError: false, text: 'ok' }] },
      ],
    });
    const ids = ['dup', 'dup_2', 'call_3_2', 'old_2', 'a_b'];
    expect(reply.blocks.map((block) => (block.type === 'tool_use' ? block.id : ''))).toEqual(ids);
    expect(reply.raw).toMatchObject(ids.map((id) => ({ type: 'tool_use', id })));
  });

  test.each([
    ['end_turn', 'end_turn', undefined],
    ['max_tokens', 'max_tokens', undefined],
    ['pause_turn', 'pause_turn', undefined],
    ['model_context_window_exceeded', 'context_exceeded', undefined],
    ['something_new', 'unknown', 'something_new'],
  ])('maps stop reason %s to %s', async (stopReason, stop, detail) => {
    const { ask } = await serving([{ text: 'x', stopReason }]);
    const reply = await ask();
    expect([reply.stop, reply.stopDetail]).toEqual([stop, detail]);
  });

  test('names the matched stop sequence', async () => {
    const { ask } = await serving([
      { text: 'x', stopReason: 'stop_sequence', stopSequence: 'END' },
    ]);
    expect(await ask()).toMatchObject({ stop: 'stop_sequence', stopDetail: 'END' });
  });

  test('drops the calls of a refused message and says why it was refused', async () => {
    const stopDetails = { type: 'refusal', category: 'cyber', explanation: 'Not this.' };
    const refused = { calls: [{ tool: 't', input: {} }], stopReason: 'refusal', stopDetails };
    const { ask } = await serving([refused]);
    const reply = await ask();
    expect(reply).toMatchObject({
      blocks: [],
      stop: 'refusal',
      refusal: 'Not this.',
      incompleteCalls: 1,
    });
  });

  test.each(['', '{"a": "b'])(
    'drops the last call of a truncated message when its input is %j',
    async (rawInput) => {
      const calls = [
        { tool: 'whole', input: { a: 1 } },
        { tool: 'cut', rawInput },
      ];
      const { ask } = await serving([{ calls, stopReason: 'max_tokens' }]);
      const reply = await ask();
      expect(reply.blocks).toMatchObject([{ type: 'tool_use', tool: 'whole' }]);
      expect(reply.raw).toHaveLength(1);
      expect(reply.incompleteCalls).toBe(1);
    },
  );

  test('gives thinking back to the same model unchanged, and not to another', async () => {
    const first: ScriptedMessage = {
      thinking: 'Let me see…',
      text: 'Aha.',
      calls: [{ tool: 't', input: {} }],
    };
    const { ask, model } = await serving([first, { text: 'Done.' }]);
    const reply = await ask();
    expect(reply.blocks[0]).toEqual({ type: 'thinking', text: 'Let me see…' });
    const result: Block = { type: 'tool_result', id: 'toolu_0_0', isError: false, text: 'ok' };
    const messages = [
      { role: 'user' as const, blocks: [{ type: 'text' as const, text: 'Hello' }] },
      {
        role: 'assistant' as const,
        blocks: reply.blocks,
        raw: reply.raw,
        rawModel: 'scripted-model',
      },
      { role: 'user' as const, blocks: [result] },
    ];
    await ask({ messages });
    const sent = lastBody(model)['messages'] as { content: unknown[] }[];
    const signature = signatureOf('Let me see…');
    expect(sent[1]?.content).toEqual(reply.raw);
    expect(sent[1]?.content[0]).toEqual({ type: 'thinking', thinking: 'Let me see…', signature });
    await ask({ messages, model: 'another-model' });
    const rebuilt = (lastBody(model)['messages'] as { content: { type: string }[] }[])[1]?.content;
    expect(rebuilt?.map((block) => block.type)).toEqual(['text', 'tool_use']);
  });

  test('reports progress for every chunk', async () => {
    const { ask, chunks } = await serving([{ text: 'a'.repeat(50), chunks: 10, chunkDelayMs: 2 }]);
    await ask();
    expect(chunks()).toBeGreaterThan(5);
  });

  test('is the same for a repeated request', async () => {
    const { ask } = await serving([{ text: 'x', calls: [{ tool: 't', input: { a: 1 } }] }]);
    expect(await ask()).toEqual(await ask());
  });
});

describe('an interrupted reply', () => {
  test('keeps complete calls and what text there is, and drops the call in the making', async () => {
    const calls: readonly ScriptedCall[] = [
      { tool: 'whole', input: { a: 1 } },
      { tool: 'cut', input: { b: 2 } },
    ];
    // start, text (3), whole (3), cut: start and delta, but no stop.
    const { ask, model } = await serving([
      { text: 'So far', calls, stallAfterChunks: 9, usage: { input: 9 } },
    ]);
    const abort = new AbortController();
    void until(() => model.requests().length > 0)
      .then(() => sleep(STALLED_MS))
      .then(() => abort.abort());
    const reply = await ask({}, abort.signal);
    expect(reply).toMatchObject({
      blocks: [
        { type: 'text', text: 'So far' },
        { type: 'tool_use', tool: 'whole', args: { a: 1 } },
      ],
      stop: 'unknown',
      stopDetail: 'aborted',
      partial: true,
      incompleteCalls: 1,
      usageSource: 'estimated',
      usage: { input: 9, output: 7 },
    });
  });

  test('is empty when nothing had arrived', async () => {
    const { ask } = await serving([{ text: 'late', delayMs: 5000 }]);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    expect(await ask({}, abort.signal)).toMatchObject({
      blocks: [],
      partial: true,
      usageSource: 'absent',
    });
  });

  test('never left when the caller had given up before', async () => {
    const { ask, model } = await serving([{ text: 'x' }]);
    expect(await ask({}, AbortSignal.abort())).toMatchObject({
      partial: true,
      usageSource: 'unsent',
    });
    expect(model.requests()).toHaveLength(0);
  });
});

test('a script that has run out fails loudly and is counted', async () => {
  const { ask, model } = await serving([]);
  const failure = await failureOf(ask());
  expect(failure.code).toBe('InvalidRequest');
  expect(failure.message).toContain('script exhausted after 0 replies');
  expect(model.exhausted()).toBe(1);
});
