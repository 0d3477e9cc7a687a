import { neededFurther } from '../../../evaluation/capture/further.js';
import type { FixtureDocument } from '../../../evaluation/format/document.js';

const CASE = {
  case_id: 'short',
  budget: { maxTurns: 1, maxToolCalls: 5 },
  model: [{ calls: [{ tool: 'pay', args: {} }] }],
  expected: { stop_reason: 'completed' },
} as unknown as FixtureDocument;

const ended = (observed: string) => [{ path: 'stop_reason', expected: 'completed', observed }];

test('a case whose own limit ends its run is told to need more of that limit first', () => {
  expect(neededFurther(CASE, ended('max_turns'))).toEqual([
    'budget.maxTurns',
    'tools.pay.results',
    'during',
    'model',
  ]);
});

test('a limit that the case leaves to its agent, or to the default, is named as well', () => {
  expect(neededFurther(CASE, ended('max_cost'))[0]).toBe('budget.maxCostMicroUsd');
});

test('limits that end nothing are not named', () => {
  for (const reason of ['failed', 'completed']) {
    expect(neededFurther(CASE, ended(reason))).toEqual(['tools.pay.results', 'during', 'model']);
  }
});
