/** `wrapUpTurn`: the last word of a run whose budget is used up (C42, G104). */
import { call, calls, failure, says, usage, type Script } from '../script.js';
import {
  answer,
  codesOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  transitionsOf,
  until,
  type Shell,
} from '../shell.js';
import { CHANGES } from '../../../core/step/changes.js';
import { lettersOf } from '../transcript.js';

const READ = calls(call('a', 'read_order'));
const SUMMARY = says('summary');

function wrappingUp(script: Script): Shell {
  return createShell({ ...script, settings: { wrapUpTurn: true, ...script.settings } });
}

test('S65: tool calls are used up: one call without tools, the stop stays what it was', () => {
  const shell = wrappingUp({ budget: { maxToolCalls: 1 }, model: [READ, SUMMARY, says('late')] });
  expect(finish(shell)).toMatchObject({
    stopReason: 'max_tool_calls',
    status: 'stopped',
    completed: false,
    partialOutput: { text: 'summary' },
    counters: { modelCalls: 2, toolCalls: 1 },
  });
  expect(requestsOf(shell).map(({ offered }) => offered)).toEqual([undefined, []]);
  expect(lettersOf(shell.transcript)).toBe('U A R A');
  expect(finish(shell).answer).toBeUndefined();
});

test('turns are used up: there is no last word on top of them', () => {
  const shell = wrappingUp({ budget: { maxTurns: 2 }, model: [READ, READ, SUMMARY] });
  const result = finish(shell);
  expect(result).toMatchObject({
    stopReason: 'max_turns',
    counters: { modelCalls: 2, turnCount: 2 },
  });
  expect(result.partialOutput).toBeUndefined();
});

test.each(['round_trips', 'logical'] as const)(
  'tool calls are used up in the last turn, counted as %s: there is no last word',
  (turnCounting) => {
    const shell = wrappingUp({
      settings: { turnCounting },
      budget: { maxTurns: 1, maxToolCalls: 1 },
      model: [calls(call('a', 'read_order'), call('b', 'lookup_order')), SUMMARY],
    });
    expect(finish(shell)).toMatchObject({
      stopReason: 'max_tool_calls',
      counters: { modelCalls: 1 },
    });
    expect(codesOf(shell)).toEqual({ a: 'ok', b: 'budget_exceeded' });
  },
);

test('under older rules the last word comes on top of the turns', () => {
  const shell = wrappingUp({
    rules: CHANGES.wrapUpFits.since - 1,
    budget: { maxTurns: 2 },
    model: [READ, READ, SUMMARY],
  });
  expect(finish(shell)).toMatchObject({
    stopReason: 'max_turns',
    partialOutput: { text: 'summary' },
    counters: { modelCalls: 3, turnCount: 2 },
  });
  expect(transitionsOf(shell)).toEqual(['next_turn', 'next_turn']);
});

test('attempts have cost so much that another like them does not fit: a shorter last word does', () => {
  const exhausted = failure('BudgetExhausted', { details: { budget: 'max_cost', attempts: 1 } });
  const shell = wrappingUp({ model: [READ, exhausted, SUMMARY] });
  expect(finish(shell)).toMatchObject({
    stopReason: 'max_cost',
    partialOutput: { text: 'summary' },
  });
  expect(requestsOf(shell).at(-1)?.offered).toEqual([]);
});

test('without the setting there is no last word', () => {
  const shell = createShell({ budget: { maxToolCalls: 1 }, model: [READ, SUMMARY] });
  expect(finish(shell)).toMatchObject({ stopReason: 'max_tool_calls' });
  expect(requestsOf(shell)).toHaveLength(1);
});

test('calls beyond the cap inside one reply are not executed, nobody is asked about them', () => {
  const shell = wrappingUp({
    budget: { maxToolCalls: 1 },
    model: [
      calls(call('a', 'read_order'), call('b', 'lookup_order'), call('c', 'issue_refund', {})),
      SUMMARY,
    ],
  });
  expect(finish(shell)).toMatchObject({
    stopReason: 'max_tool_calls',
    partialOutput: { text: 'summary' },
    counters: { toolCalls: 1, notStartedCalls: 2 },
  });
  expect(codesOf(shell)).toEqual({ a: 'ok', b: 'budget_exceeded', c: 'budget_exceeded' });
  expect(ofType(shell, 'approval_requested')).toEqual([]);
  expect(lettersOf(shell.transcript)).toBe('U A R A');
});

test('under strict handling of invalid calls the stop is still the budget', () => {
  const shell = wrappingUp({
    settings: { onInvalid: 'refuse', onDeny: 'refuse' },
    budget: { maxToolCalls: 1 },
    model: [calls(call('a', 'read_order'), call('b', 'lookup_order')), SUMMARY],
  });
  expect(finish(shell).stopReason).toBe('max_tool_calls');
});

test('a last word that calls tools gets no tools', () => {
  const shell = wrappingUp({
    budget: { maxToolCalls: 1 },
    model: [READ, calls(call('b', 'write_note', {})), says('late')],
  });
  expect(finish(shell).stopReason).toBe('max_tool_calls');
  expect(executedOf(shell)).toHaveLength(1);
  expect(codesOf(shell)).toMatchObject({ b: 'budget_exceeded' });
});

test.each([
  ['a failure', failure('Overloaded')],
  ['an overflow', failure('PromptTooLong')],
  ['a refusal', says('no', { stop: 'refusal' })],
  ['an empty reply', says(' ')],
  ['a reply that is cut off', says('half', { stop: 'max_tokens' })],
] as const)('%s in place of the last word does not change the stop', (_what, entry) => {
  const shell = wrappingUp({
    settings: { fallbackModel: 'scripted/spare' },
    budget: { maxToolCalls: 1 },
    model: [READ, entry, says('late')],
  });
  const result = finish(shell);
  expect(result.stopReason).toBe('max_tool_calls');
  expect(result.detail).toBeUndefined();
  expect(requestsOf(shell)).toHaveLength(2);
});

describe('there is no last word', () => {
  test('when the money does not reach for it', () => {
    const shell = wrappingUp({
      budget: { maxToolCalls: 1, maxCostMicroUsd: 12_000 },
      model: [{ ...READ, reply: { ...READ.reply, ...usage(3_900, 0) } }, SUMMARY],
    });
    expect(finish(shell).stopReason).toBe('max_tool_calls');
    expect(requestsOf(shell)).toHaveLength(1);
  });

  test.each([
    ['money', { maxCostMicroUsd: 3_300 }, 'max_cost'],
    ['output tokens', { maxOutputTokens: 100 }, 'max_output_tokens'],
    ['input tokens', { maxInputTokens: 600 }, 'max_input_tokens'],
    ['time', { timeoutMs: 2 }, 'timeout'],
  ] as const)('when %s is what is used up', (_what, budget, stopReason) => {
    const lean = { ...READ, reply: { ...READ.reply, ...usage(600, 100) } };
    const shell = wrappingUp({ budget, model: [lean, SUMMARY] });
    expect(finish(shell).stopReason).toBe(stopReason);
    expect(requestsOf(shell)).toHaveLength(1);
  });

  test('when time is used up together with the tool calls', () => {
    const shell = wrappingUp({
      budget: { maxToolCalls: 1, timeoutMs: 50 },
      outcomes: { read_order: [{ ok: 1, delayMs: 49 }] },
      model: [READ, SUMMARY],
    });
    finish(shell);
    expect(requestsOf(shell)).toHaveLength(1);
  });

  test('S59: when the run may not call the model at all', () => {
    const shell = wrappingUp({ budget: { maxTurns: 0 }, model: [SUMMARY] });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_turns', counters: { modelCalls: 0 } });
    expect(shell.events.at(0)?.type).toBe('session_init');
  });

  test('beyond the hard cap on model calls', () => {
    const shell = wrappingUp({ budget: { maxModelCalls: 1 }, model: [READ, SUMMARY] });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_turns', counters: { modelCalls: 1 } });
  });
});

describe('an interrupt of the last word', () => {
  const slow: Script = { budget: { maxToolCalls: 1 }, model: [READ, { ...SUMMARY, delayMs: 50 }] };

  test.each(['stop', 'pause'] as const)('ends the run, interruptMode %s', (interruptMode) => {
    const shell = wrappingUp({ ...slow, settings: { interruptMode } });
    until(shell, 'transition');
    send(shell, { type: 'interrupt' });
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'streaming' });
    expect(ofType(shell, 'input_request')).toEqual([]);
  });
});

test('the last word may come in another segment', () => {
  const shell = wrappingUp({ budget: { maxToolCalls: 1 }, model: [READ, SUMMARY] });
  until(shell, 'tool_started');
  crossSegment(shell);
  expect(finish(shell)).toMatchObject({
    stopReason: 'max_tool_calls',
    partialOutput: { text: 'summary' },
  });
});

describe('where a person may allow more', () => {
  const settings = { onBudget: 'ask' } as const;
  const model = [READ, SUMMARY];

  test('the last word comes after their no', () => {
    const shell = settle(wrappingUp({ settings, budget: { maxToolCalls: 1 }, model }));
    answer(shell, { decision: 'reject' });
    expect(finish(shell)).toMatchObject({
      stopReason: 'max_tool_calls',
      partialOutput: { text: 'summary' },
    });
  });

  test('their yes lets the run go on with its tools', () => {
    const shell = settle(wrappingUp({ settings, budget: { maxToolCalls: 1 }, model }));
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
    expect(requestsOf(shell)[1]?.offered).toBeUndefined();
  });

  test('a last word that does not fit the money asks for nothing', () => {
    const lean = { ...READ, reply: { ...READ.reply, ...usage(600, 100) } };
    const shell = settle(
      wrappingUp({
        settings,
        budget: { maxToolCalls: 1, maxCostMicroUsd: 3_400 },
        model: [lean, SUMMARY],
      }),
    );
    answer(shell, { decision: 'reject' });
    expect(finish(shell).stopReason).toBe('max_tool_calls');
    expect(ofType(shell, 'input_request')).toHaveLength(1);
  });
});
