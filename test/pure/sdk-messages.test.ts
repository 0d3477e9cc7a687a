import type { RunEvent } from '../../core/state/event.js';
import { previewOf, type StoredText } from '../../core/json/json.js';
import { messageOf, textsOf } from '../../pure/sdk/event-message.js';
import type { SDKMessage } from '../../pure/sdk/message.js';
import { advanceProjection, startProjection } from '../../pure/sdk/projection.js';
import { call, calls, says } from '../core/script.js';
import { createShell, finish, send, type Shell } from '../core/shell.js';

const CIRCUMSTANCES = { cwd: '/work', permissionMode: 'default' } as const;

function messagesOf(events: readonly RunEvent[], whole?: (text: StoredText) => string) {
  let state = startProjection(CIRCUMSTANCES);
  const messages: SDKMessage[] = [];
  for (const event of events) {
    state = advanceProjection(state, event);
    const asked = textsOf(state, event);
    const read = (text: StoredText): string => {
      if (!asked.includes(text)) throw new Error(`${event.type} shows a text it did not ask for`);
      return whole?.(text) ?? previewOf(text);
    };
    const message = messageOf(state, event, read);
    if (message !== undefined) messages.push(message);
  }
  return messages;
}

function play(shell: Shell): readonly SDKMessage[] {
  finish(shell);
  return messagesOf(shell.events);
}

const words = (message: SDKMessage): string =>
  'subtype' in message ? `${message.type}/${message.subtype}` : message.type;

test('a run with one tool call is told from init to result', () => {
  const shell = createShell({ model: [calls(call('a', 'read_order')), says('It is on its way.')] });
  const messages = play(shell);
  expect(messages.map(words)).toEqual([
    'system/init',
    'assistant',
    'tool_progress',
    'tool_progress',
    'user',
    'assistant',
    'result/success',
  ]);
  const [init, proposal, before, after, results, answer, result] = messages;
  expect(init).toMatchObject({ session_id: 'run_1', run_id: 'run_1', seq: 0, ...CIRCUMSTANCES });
  expect(proposal).toMatchObject({
    message: {
      role: 'assistant',
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', id: 'a', name: 'read_order' }],
    },
    parent_tool_use_id: null,
  });
  expect(before).toMatchObject({ tool_use_id: 'a', elapsed_time_seconds: 0 });
  expect(after).toMatchObject({ tool_use_id: 'a', tool_name: 'read_order' });
  expect(results).toMatchObject({
    message: { role: 'user', content: [{ tool_use_id: 'a', is_error: false }] },
  });
  expect(answer).toMatchObject({
    message: { content: [{ type: 'text', text: 'It is on its way.' }], stop_reason: 'end_turn' },
  });
  expect(result).toMatchObject({
    result: 'It is on its way.',
    is_error: false,
    num_turns: 2,
    stop_reason: 'end_turn',
    permission_denials: [],
    total_cost_usd: shell.run.money.spentMicroUsd / 1e6,
    run_result: { stopReason: 'completed' },
  });
});

test.each([
  ['unknown: brand_new_reason', 'brand_new_reason'],
  ['unknown: odd: very odd', 'odd: very odd'],
  ['unknown', 'unknown'],
  ['stop_sequence: ###', 'stop_sequence'],
  ['context_exceeded', 'model_context_window_exceeded'],
])('a reply that stopped with "%s" has the stop reason of its vendor', (stopReason, shown) => {
  const shell = createShell({ model: [says('Well.')] });
  finish(shell);
  const told = shell.events.map((event) =>
    event.type === 'model_response' ? { ...event, stopReason } : event,
  );
  expect(messagesOf(told).find(({ type }) => type === 'assistant')).toMatchObject({
    message: { stop_reason: shown },
  });
});

test.each([
  ['stop_sequence: ###', '###'],
  ['stop_sequence: a: b', 'a: b'],
  ['stop_sequence', null],
  ['end_turn', null],
  ['unknown: stop_sequence', null],
])('a reply that stopped with "%s" has the stop sequence %j', (stopReason, sequence) => {
  const shell = createShell({ model: [says('Well.')] });
  finish(shell);
  const told = shell.events.map((event) =>
    event.type === 'model_response' ? { ...event, stopReason } : event,
  );
  expect(messagesOf(told).find(({ type }) => type === 'assistant')).toMatchObject({
    message: { stop_sequence: sequence },
  });
});

test('the thinking that is put back into an event comes before the text', () => {
  const shell = createShell({ model: [says('Well.')] });
  finish(shell);
  const told = shell.events.map((event) =>
    event.type === 'model_response' ? { ...event, thinking: ['Let me see.'] } : event,
  );
  expect(messagesOf(told).find(({ type }) => type === 'assistant')).toMatchObject({
    message: { content: [{ type: 'thinking', thinking: 'Let me see.' }, { type: 'text' }] },
  });
});

test('the usage of each model adds up to that of the run', () => {
  const shell = createShell({ model: [calls(call('a', 'read_order')), says('Done.')] });
  const result = play(shell).at(-1);
  if (result?.type !== 'result') throw new Error('no result');
  const models = Object.values(result.modelUsage);
  const sum = (field: 'inputTokens' | 'outputTokens' | 'costUSD') =>
    models.reduce((total, usage) => total + usage[field], 0);
  expect(sum('inputTokens')).toBe(result.usage.input_tokens);
  expect(sum('outputTokens')).toBe(result.usage.output_tokens);
  expect(sum('costUSD')).toBeCloseTo(result.total_cost_usd, 9);
  expect(result.duration_ms).toBe(shell.events.at(-1)!.stamp.at - shell.events[0]!.stamp.at);
  expect(result.duration_api_ms).toBeLessThanOrEqual(result.duration_ms);
});

test('a message has the same uuid whenever it is read, and no other has it', () => {
  const shell = createShell({ model: [calls(call('a', 'read_order')), says('Done.')] });
  finish(shell);
  const uuids = messagesOf(shell.events).map(({ uuid }) => uuid);
  expect(messagesOf(shell.events).map(({ uuid }) => uuid)).toEqual(uuids);
  expect(new Set(uuids).size).toBe(uuids.length);
  for (const uuid of uuids) {
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});

test('what a reset put in the place of a message has another uuid', () => {
  const shell = createShell({ model: [says('Done.')] });
  finish(shell);
  const anew = shell.events.map((event) => ({
    ...event,
    stamp: { ...event.stamp, at: event.stamp.at + 1 },
  }));
  const uuids = [shell.events, anew]
    .flatMap((events) => messagesOf(events))
    .map(({ uuid }) => uuid);
  expect(new Set(uuids).size).toBe(uuids.length);
});

test('every denied call is listed with its input', () => {
  const shell = createShell({
    task: { allowedActions: ['read_order'] },
    model: [
      calls(call('a', 'issue_refund', { orderId: 'A-1' }), call('b', 'read_order')),
      says('It may not be done.'),
    ],
  });
  const result = play(shell).at(-1);
  expect(result).toMatchObject({
    permission_denials: [
      { tool_name: 'issue_refund', tool_use_id: 'a', tool_input: { orderId: 'A-1' } },
    ],
  });
});

test('an interrupted run says so, and its result is an error with what to do', () => {
  const shell = createShell({ model: [says('late')] });
  send(shell, { type: 'interrupt' });
  const messages = play(shell);
  expect(messages.map(words)).toEqual([
    'system/init',
    'system/status',
    'result/error_during_execution',
  ]);
  expect(messages[1]).toMatchObject({ event: 'interruption', status: null });
  expect(messages[2]).toMatchObject({
    is_error: true,
    errors: [
      'interrupted',
      "The run keeps no session: start a new run with `holdfast start case 'TASK'`.",
    ],
    stop_reason: null,
  });
  expect(messages[2]).not.toHaveProperty('result');
});

test.each([
  [{ maxTurns: 1 }, 'error_max_turns'],
  [{ maxCostMicroUsd: 0 }, 'error_max_budget_usd'],
  [{ maxToolCalls: 1 }, 'error_during_execution'],
] as const)('a run stopped by %j is %s', (budget, subtype) => {
  const model = [calls(call('a', 'read_order')), calls(call('b', 'read_order')), says('late')];
  const result = play(createShell({ budget, model })).at(-1);
  expect(result).toMatchObject({ type: 'result', subtype, is_error: true });
});

test('texts that lie in the store are asked for, and shown whole', () => {
  const shell = createShell({ model: [says('short')] });
  finish(shell);
  const long: StoredText = { $blob: 'f'.repeat(64), bytes: 9_000, preview: 'the beginning' };
  const events = shell.events.map((event) =>
    event.type === 'model_response'
      ? { ...event, text: long }
      : event.type === 'run_result'
        ? { ...event, result: { ...event.result, answer: long } }
        : event,
  );
  const messages = messagesOf(events, (text) => ('text' in text ? text.text : 'the whole text'));
  expect(JSON.stringify(messages)).not.toContain('the beginning…');
  expect(messages.at(-1)).toMatchObject({ result: 'the whole text' });
});
