/** Expectations of how a run ended, each once met and once not. */
import { compare } from '../../evaluation/compare.js';
import type { Observation } from '../../evaluation/engine.js';
import {
  countersWith,
  expecting,
  happened,
  observationWith,
  READING,
  resultWith,
} from './setup.js';

function differences(expected: object, observation: Observation) {
  return compare(expecting(expected), observation);
}

function paths(expected: object, observation: Observation): readonly string[] {
  return differences(expected, observation).map(({ path }) => path);
}

/** The usual run with another result. */
function ended(changes: Parameters<typeof resultWith>[0]): Observation {
  return happened(READING, { result: resultWith(changes) });
}

const TURNS = ended({
  stopReason: 'max_turns',
  status: 'stopped',
  completed: false,
  detail: undefined,
});

test('a run without an unmet expectation has no difference', () => {
  expect(
    differences({ stop_reason: 'completed', detail: 'final_answer' }, observationWith()),
  ).toEqual([]);
});

describe('stop_reason', () => {
  test.each([
    [{ stop_reason: 'max_turns' }],
    [{ stop_reason: 'max_steps' }],
    [{ stop_reason: 'step_limit_reached' }],
    [{ stop_reason: 'error_max_turns' }],
    [{ stop_reason: 'max_steps', dialect: 's001' }],
    [{ stop_reason: 'step_limit_reached', dialect: 's000' }],
  ])('%j is max_turns', (expected) => {
    expect(differences(expected, TURNS)).toEqual([]);
  });

  test.each([
    [{ stop_reason: 'completed' }, 'max_turns'],
    [{ stop_reason: 'success' }, 'max_turns'],
    [{ stop_reason: 'max_turns', dialect: 's001' }, 'max_steps = max_turns'],
    [{ stop_reason: 'aborted_tools' }, 'max_turns'],
  ])('%j is not', (expected, observed) => {
    expect(differences(expected, TURNS)).toMatchObject([{ path: 'stop_reason', observed }]);
  });

  test('a canonical word is never an alias: an empty answer is not refused, though one dialect says so', () => {
    const empty = ended({ stopReason: 'empty_response', status: 'stopped', completed: false });
    expect(paths({ stop_reason: 'refused' }, empty)).toEqual(['stop_reason']);
    expect(paths({ stop_reason: 'refused', dialect: 's001' }, empty)).toEqual([]);
    expect(paths({ stop_reason: 'no_final_answer_or_tool_call' }, empty)).toEqual([]);
  });

  test('a reason of the task is found in the detail', () => {
    const blocked = ended({
      stopReason: 'refused',
      status: 'stopped',
      completed: false,
      detail: 'policy_blocked',
    });
    expect(paths({ stop_reason: 'policy_blocked' }, blocked)).toEqual([]);
    expect(paths({ stop_reason: 'policy_blocked' }, TURNS)).toEqual(['stop_reason']);
  });
});

describe('fields of the result', () => {
  const full = ended({
    stopReason: 'interrupted',
    status: 'cancelled',
    completed: false,
    detail: 'd',
    phase: 'tools',
    output: { b: 1, a: [2] },
    partialOutput: { text: 'half' },
    budgetOverrun: true,
    nextSafeAction: 'Resume.',
    costMicroUsd: 77,
  });

  test.each([
    ['detail', 'd', 'other'],
    ['phase', 'tools', 'streaming'],
    ['status', 'cancelled', 'failed'],
    ['completed', false, true],
    ['answer', 'It shipped.', 'It'],
    ['output', { a: [2], b: 1 }, { a: [2] }],
    ['partial_output', 'half', 'whole'],
    ['budget_overrun', true, false],
    ['next_safe_action', 'Resume.', 'Retry.'],
    ['cost_micro_usd', 77, 78],
  ])('%s', (key, right, wrong) => {
    expect(differences({ [key]: right }, full)).toEqual([]);
    expect(paths({ [key]: wrong }, full)).toEqual([key]);
  });

  test('an answer of null asks that there is none', () => {
    const none = ended({
      stopReason: 'max_turns',
      status: 'stopped',
      completed: false,
      answer: undefined,
    });
    expect(paths({ answer: null }, none)).toEqual([]);
    expect(differences({ answer: null }, observationWith())).toMatchObject([
      { path: 'answer', expected: 'none', observed: 'It shipped.' },
    ]);
    expect(paths({ answer: 'It shipped.' }, none)).toEqual(['answer']);
  });

  test('next_safe_action: true asks only that there is one', () => {
    expect(differences({ next_safe_action: true }, full)).toEqual([]);
    expect(paths({ next_safe_action: true }, observationWith())).toEqual(['next_safe_action']);
  });

  test('an overrun that is not there is none', () => {
    expect(differences({ budget_overrun: false }, observationWith())).toEqual([]);
  });

  test('no output is not null', () => {
    expect(paths({ output: null }, observationWith())).toEqual(['output']);
  });

  test('the phase of the loop is that of the stop', () => {
    expect(paths({ phase: 'awaiting_model' }, TURNS)).toEqual([]);
    expect(paths({ phase: 'stop_hooks' }, TURNS)).toEqual(['phase']);
  });
});

describe('counters', () => {
  const observation = observationWith();

  test.each([
    [{ modelCalls: 2, compactions: { proactive: 1, reactive: 0 } }],
    [{ usage: { in: 2_000, out: 200, cacheR: 10, cacheW: 5 } }],
    [{ activeMs: { lte: 120, gte: 120 }, toolAttempts: { lte: 2 } }],
  ])('%j', (counters) => {
    expect(differences({ counters }, observation)).toEqual([]);
  });

  test.each([
    [{ modelCalls: 3 }, 'counters.modelCalls', 2],
    [{ compactions: { reactive: 1 } }, 'counters.compactions.reactive', 0],
    [{ usage: { cacheR: 11 } }, 'counters.usage.cacheR', 10],
    [{ activeMs: { lte: 119 } }, 'counters.activeMs', 120],
    [{ activeMs: { gte: 121 } }, 'counters.activeMs', 120],
  ])('%j is not so', (counters, path, observed) => {
    expect(differences({ counters }, observation)).toMatchObject([{ path, observed }]);
  });

  test('that do not add up break an invariant, though nobody expected anything of them', () => {
    const wrong = resultWith({ counters: countersWith({ deniedCalls: 1 }) });
    const found = compare(
      expecting({ completed: true }),
      observationWith({ result: wrong, events: happened(READING, { result: wrong }).events }),
    );
    expect(found).toMatchObject([
      { path: 'invariants', observed: expect.stringContaining('the counters give 2 calls') },
    ]);
  });
});

describe('a start that is refused', () => {
  const refused: Observation = {
    ...observationWith({ events: [], transcript: [], requests: [], executions: [] }),
    result: undefined,
    startError: { code: 'InvalidTask', message: 'The task has no goal.' },
  };

  test('is expected by the name of its error', () => {
    expect(
      differences({ start_error: 'invalid_task', model_requests: 0, executed: [] }, refused),
    ).toEqual([]);
    expect(paths({ start_error: 'unknown_agent' }, refused)).toEqual(['start_error']);
  });

  test('is a difference when the run should have started', () => {
    expect(differences({ stop_reason: 'completed' }, refused)).toMatchObject([
      { path: 'start_error', observed: 'InvalidTask: The task has no goal.' },
      { path: 'stop_reason', observed: '(absent)' },
    ]);
  });

  test('is missed when the run started', () => {
    expect(paths({ start_error: 'invalid_task' }, observationWith())).toEqual(['start_error']);
  });
});

test('a run that does not end is a difference', () => {
  const endless: Observation = { ...observationWith(), result: undefined };
  expect(paths({ persisted: 0 }, endless)).toEqual(['result']);
});
