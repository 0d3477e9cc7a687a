/** What goals tell of money otherwise since rules 13, each beside a goal of the rules before. */
import { asked, both, ending } from './both-rules.js';
import { count, TERMS, type GoalScript } from './shell.js';

const BEFORE = 12;

const route = {
  name: 'm',
  provider: 'p',
  model: 'm',
  contextWindow: 200_000,
  maxOutputTokens: 8_000,
  prices: { input: 1_000_000, output: 1_000_000, cacheRead: 0, cacheWrite: 0 },
  pricesVersion: '1',
  temperatureAllowed: true,
};
const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0 };
const judged = (costMicroUsd: number) => ({
  score: 0.1,
  because: 'Too long.',
  evidence: [],
  costMicroUsd,
  calls: 1,
  usage,
});

test('a review tells the cost of judges since the review before, also of passes without a review', () => {
  const script: GoalScript = {
    terms: {
      done: { mode: 'all', conditions: [{ kind: 'judge', name: 'style', atLeast: 0.8 }] },
      judges: [{ name: 'style', route, maxTokens: 500 }],
      roundMicroUsd: 50_000,
      reviewEvery: { cycles: 2 },
      budget: { ...TERMS.budget, maxCycles: 4 },
    },
    checks: { open: [count(9)] },
    judges: [judged(100), judged(20), judged(3), judged(1_000), judged(50_000)],
  };
  const told = both(script, BEFORE).map((goal) =>
    goal
      .run()
      .of('goal_review')
      .map(({ costMicroUsd }) => costMicroUsd),
  );
  expect(told).toEqual([[123], [undefined]]);
});

test('a budget that an answer raises is told as a message would have set it', () => {
  const script: GoalScript = {
    terms: { budget: { ...TERMS.budget, maxCycles: 1, onBudget: 'ask' } },
    checks: { open: [count(9), count(8), count(0, [0])] },
  };
  const told = both(script, BEFORE).map((goal) => {
    goal.run(asked).decideAsk('approve').run();
    expect(ending(goal)).toBe('completed done_condition');
    return goal.of('goal_steered').map(({ by, proven, control, value }) => {
      return { by, proven, control, value };
    });
  });
  const raise = { by: 'berta', proven: false, control: 'setBudget', value: { maxCycles: 2 } };
  expect(told).toEqual([[raise], []]);
});
