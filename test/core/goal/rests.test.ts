/** When a goal rests, and whom it asks no more. */
import type { GoalTerms } from '../../../core/state/goal/terms.js';
import { count, ScriptedGoal, START_AT } from './shell.js';

const HOUR_MS = 3_600_000;
const REVIEWER: NonNullable<GoalTerms['reviewer']> = {
  name: 'reviewer',
  route: {
    name: 'm',
    provider: 'p',
    model: 'm',
    contextWindow: 200_000,
    maxOutputTokens: 8_000,
    prices: { input: 1_000_000, output: 1_000_000, cacheRead: 0, cacheWrite: 0 },
    pricesVersion: '1',
    temperatureAllowed: true,
  },
  maxTokens: 500,
  roles: ['lead'],
};
const INVALID = {
  costMicroUsd: 100,
  usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
  calls: 1,
};

const reviews = (shell: ScriptedGoal): number =>
  shell.effects.filter(({ kind }) => kind === 'ask_judge').length;

test('a reviewer without a valid answer is asked three times, then a person is, and a review asked for meanwhile asks it no more', () => {
  const shell = new ScriptedGoal({
    terms: { reviewer: REVIEWER, roundMicroUsd: 50_000 },
    reviews: [INVALID],
    checks: { open: Array.from({ length: 9 }, (_, n) => count(9 - n)) },
  }).run(({ goal }) => goal.asks.length > 0);
  expect(shell.of('approval_requested').at(-1)).toBeDefined();
  expect(reviews(shell)).toBe(3);
  const { passes } = shell.goal;
  shell.say({ type: 'review' }, 'carla').run(({ goal }) => goal.passes > passes);
  expect(shell.goal.passes).toBe(passes + 1);
  expect(reviews(shell)).toBe(3);
});

test.each([
  ['a pause that a cycle asks for is why the goal sleeps', HOUR_MS, 'Its clerk is away.'],
  ['a pause that is over when the cycle has ended is none', 1_000, 'waits to be woken'],
])('%s', (_what, ms, because) => {
  const pause = { until: START_AT + ms, because: 'Its clerk is away.' };
  const shell = new ScriptedGoal({
    terms: { pace: 'when_woken' },
    checks: { open: [count(9), count(8), count(0, [0])] },
    cycles: [{ close: { pause } }],
  }).run(({ goal }) => goal.sleep !== undefined && !goal.sleep.over);
  expect(shell.goal.sleep?.because).toBe(because);
});

test('words that wake a goal wake it once', () => {
  const asleep = ({ goal }: ScriptedGoal) => goal.sleep !== undefined && !goal.sleep.over;
  const shell = new ScriptedGoal({
    terms: { pace: 'when_woken' },
    checks: { open: [count(9), count(8), count(7), count(6), count(0, [0])] },
  }).run(asleep);
  const { cycles } = shell.goal;
  shell.say({ type: 'steer', text: 'Oldest first.', wake: true });
  shell.run(({ goal }) => goal.cycle !== undefined).run(asleep);
  expect(shell.goal.cycles).toBe(cycles + 1);
  expect(shell.goal.final).toBeUndefined();
});
