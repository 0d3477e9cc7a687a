/** Judges that gave no answer, since rules 15, beside a goal of the rules before. */
import { asked, both, ending } from './both-rules.js';
import { count, TERMS, type GoalScript } from './shell.js';

const BEFORE = 14;
const COST = {
  costMicroUsd: 0,
  calls: 1,
  usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
};
const words = ($blob: string) => ({ $blob, bytes: 8, preview: $blob });
const OUTAGE = { invalid: 'overloaded', ...COST };
const SCORED = {
  ...COST,
  judgement: { valid: true, score: 1, because: words('Fine.'), evidence: ['check/open/2'] },
};
const UNPROVEN = {
  ...COST,
  judgement: { valid: false, score: 1, because: words('Praise.'), evidence: [] },
};

function judged(...judges: NonNullable<GoalScript['judges']>): GoalScript {
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
  return {
    terms: {
      done: {
        mode: 'all',
        conditions: [TERMS.done.conditions[0]!, { kind: 'judge', name: 'style', atLeast: 0.8 }],
      },
      judges: [{ name: 'style', route, maxTokens: 500 }],
      roundMicroUsd: 50_000,
    },
    // Behind the first cycle nothing changes any more.
    checks: { open: [count(9), count(0, [0])] },
    cycles: [{ close: { evidenceDigest: 'same' } }],
    judges,
  };
}

test('a judge whose model was away is asked again, though its evidence is the same', () => {
  const [goal, older] = both(judged(OUTAGE, SCORED), BEFORE);
  expect(ending(goal.run())).toBe('completed done_condition');
  expect(ending(older.run())).toBe('needs_human no_progress');
});

test('a judge that never answers is asked three times, then a person in its place', () => {
  const [goal] = both(judged(OUTAGE), BEFORE);
  goal.run(asked);
  expect(goal.of('warning').filter(({ code }) => code === 'judge_invalid')).toHaveLength(3);
  expect(ending(goal.decideAsk('approve').run())).toBe('completed done_condition');
});

test('a score without evidence is an answer: it is not asked for again', () => {
  const [goal, older] = both(judged(UNPROVEN, SCORED), BEFORE);
  expect(ending(goal.run())).toBe('needs_human no_progress');
  expect(ending(older.run())).toBe('needs_human no_progress');
});
