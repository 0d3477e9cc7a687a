/** What the page draws of a goal's events: money against the budget, measurements, cycles. */
import { GoalEvents } from '../../../console/page/goals/goal-record.js';
import type { EventBody } from '../../../core/state/event.js';
import { eventsFrom } from '../../store/fixtures.js';

const BUDGET = {
  maxCostMicroUsd: 10,
  maxModelCalls: 'unlimited',
  maxToolCalls: 'unlimited',
  maxInputTokens: 'unlimited',
  maxOutputTokens: 'unlimited',
} as const;
const BODIES = [
  { type: 'goal_started', agent: 'a', maxCostMicroUsd: 100 },
  { type: 'check_finished', name: 'open', n: 1, known: false },
  { type: 'check_finished', name: 'open', n: 2, known: true, value: 9, best: 9 },
  { type: 'cycle_started', n: 1, runId: 'g:c1', agent: 'a', budget: BUDGET },
  {
    type: 'cycle_ended',
    n: 1,
    runId: 'g:c1',
    stopReason: 'completed',
    costMicroUsd: 7,
    progress: [],
  },
  { type: 'check_finished', name: 'open', n: 3, known: false, best: 9 },
  { type: 'goal_review', n: 1, costMicroUsd: 2 },
  { type: 'goal_steered', by: 'r', control: 'setBudget', value: { maxCostMicroUsd: 200 } },
] as unknown as readonly EventBody[];

test('money and measurements are points over time; a check that is unknown leaves a gap', () => {
  const record = new GoalEvents();
  for (const event of eventsFrom(0, BODIES)) record.take(event);
  expect(record.money.map(({ values }) => values)).toEqual([
    [0, 100],
    [7, 100],
    [9, 100],
    [9, 200],
  ]);
  expect(record.measures.get('open')?.map(({ values }) => values)).toEqual([
    [9, 9],
    [null, 9],
  ]);
  expect([...record.cycles.values()]).toMatchObject([
    { n: 1, runId: 'g:c1', ended: { costMicroUsd: 7 } },
  ]);
});

test('the end tells the whole cost, also where no event told what judges cost', () => {
  const record = new GoalEvents();
  const end = { type: 'goal_result', result: { costMicroUsd: 12 } } as unknown as EventBody;
  for (const event of eventsFrom(0, [...BODIES, end])) record.take(event);
  expect(record.money.at(-1)?.values).toEqual([12, 200]);
});

test('after a reset nothing is left of what did not happen', () => {
  const record = new GoalEvents();
  for (const event of eventsFrom(0, BODIES)) record.take(event);
  record.reset(4);
  expect(record.money.map(({ values }) => values)).toEqual([[0, 100]]);
  expect([...record.cycles.values()][0]).not.toHaveProperty('ended');
});
