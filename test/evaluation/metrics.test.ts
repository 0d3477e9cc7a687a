import { measure, metricsOf } from '../../evaluation/metrics.js';
import { isSuccess } from '../../evaluation/report.js';
import type { Observation } from '../../evaluation/engine.js';
import {
  countersWith,
  expecting,
  happened,
  INIT,
  observationWith,
  response,
  resultWith,
} from './setup.js';

const NEEDS_HUMAN = resultWith({
  stopReason: 'needs_human',
  status: 'stopped',
  completed: false,
  counters: countersWith({ proposedCalls: 3, invalidCalls: 1, deniedCalls: 1, toolCalls: 1 }),
});

function measured(expected: object, observation: Observation) {
  return measure(expecting(expected), observation);
}

test('rates over several cases', () => {
  const metrics = metricsOf([
    measured({ stop_reason: 'completed' }, observationWith({ tookMs: 10, replayed: true })),
    measured(
      { stop_reason: 'completed' },
      observationWith({ tookMs: 20, result: NEEDS_HUMAN, replayed: false }),
    ),
    measured({ stop_reason: 'needs_human' }, observationWith({ tookMs: 30, result: NEEDS_HUMAN })),
    measured({ persisted: 0 }, observationWith({ tookMs: 40 })),
  ]);
  expect(metrics).toEqual({
    completionRate: 2 / 4,
    correctStopReason: 2 / 3,
    invalidActionRate: 4 / 8,
    repeatedActionRate: 0,
    escalationAccuracy: 1 / 2,
    tokens: { input: 8_000, output: 800, cacheRead: 40, cacheWrite: 20 },
    costMicroUsd: 36_000,
    toolCalls: 4,
    toolAttempts: 4,
    latencyMs: { median: 20, p95: 40, max: 40 },
    replaySuccess: 1 / 2,
  });
});

test('a call repeats an earlier one of the same tool and arguments', () => {
  const calls = [
    { id: 'a', tool: 't', args: { x: 1, y: 2 } },
    { id: 'b', tool: 't', args: { y: 2, x: 1 } },
    { id: 'c', tool: 't', args: { x: 2 } },
    { id: 'd', tool: 'u', args: { x: 2 } },
  ];
  const result = resultWith({ counters: countersWith({ proposedCalls: 4 }) });
  const [one] = [happened([INIT, response(calls)], { result })];
  expect(metricsOf([measured({ persisted: 0 }, one as Observation)]).repeatedActionRate).toBe(
    1 / 4,
  );
});

test('a refused start counts as the right stop when it was expected', () => {
  const refused = {
    ...observationWith({ events: [] }),
    result: undefined,
    startError: { code: 'InvalidTask', message: '' },
  };
  expect(metricsOf([measured({ start_error: 'invalid_task' }, refused)])).toMatchObject({
    correctStopReason: 1,
    completionRate: 0,
    invalidActionRate: null,
  });
});

test.each([
  [{ passed: 1, failed: 0 }, true],
  [{ passed: 1, failed: 1 }, false],
  [{ passed: 0, failed: 0 }, false],
])('%j is a success: %s', (counts, success) => {
  expect(isSuccess(counts)).toBe(success);
});

test('nothing to count gives no number', () => {
  expect(metricsOf([])).toMatchObject({
    completionRate: null,
    correctStopReason: null,
    invalidActionRate: null,
    repeatedActionRate: null,
    escalationAccuracy: null,
    replaySuccess: null,
    latencyMs: { median: 0, p95: 0, max: 0 },
  });
});
