/** What a case of a goal may say, and what is said of one that is written wrongly. */
import { parseFixture } from '../../evaluation/read-fixture.js';
import { notYet } from '../../evaluation/scripted/not-yet.js';
import type { Fixture } from '../../evaluation/fixture.js';

const LOOP = {
  done: { all: [{ check: 'open', path: 'count', equals: 0 }] },
  validation: [{ name: 'open' }],
  budget: { maxCostMicroUsd: 1_000_000 },
};
const GOOD = {
  case_id: 'g1',
  goal: 'Match.',
  goalLoop: LOOP,
  expected: { stop_reason: 'completed' },
};

function read(document: object): Fixture {
  return parseFixture(JSON.stringify({ ...GOOD, ...document }), 'case.json');
}

function problemsOf(document: object): string {
  try {
    read(document);
  } catch (error) {
    expect(error).toMatchObject({ code: 'InvalidFixture' });
    return (error as Error).message;
  }
  return '';
}

const during = (on: object, action: object) => ({ during: [{ on, do: action }] });

test.each<[string, object, string]>([
  ['in the goal', { goalLoop: { ...LOOP, maxCycles: 3 } }, 'goalLoop.maxCycles'],
  ['in its budget', { goalLoop: { ...LOOP, budget: { usd: 1 } } }, 'goalLoop.budget.usd'],
  ['in its cycle', { goalLoop: { ...LOOP, cycle: { maxTurn: 1 } } }, 'goalLoop.cycle.maxTurn'],
  [
    'in a condition',
    { goalLoop: { ...LOOP, done: { all: [{ check: 'open', eq: 1 }] } } },
    'goalLoop.done.all[0].eq',
  ],
  [
    'in a check',
    { goalLoop: { ...LOOP, validation: [{ name: 'open', args: {} }] } },
    'goalLoop.validation[0].args',
  ],
  ['in a check result', { checks: { open: [{ ok: 1, at: 2 }] } }, 'checks.open[0].at'],
  ['in a cycle', { cycles: [{ model: [], tools: [] }] }, 'cycles[0].tools'],
  ['in a review', { reviews: [{ objective_valid: true, score: 1 }] }, 'reviews[0].score'],
  ['in a judgement', { judges: { q: [{ score: 1, ok: true }] } }, 'judges.q[0].ok'],
  ['in a pattern', during({ event: 'goal_review', k: 1 }, { wake: true }), 'during[0].on.k'],
  ['as an action', during({ start: true }, { sleep: true }), 'during[0].do.sleep'],
  [
    'in a plan',
    during({ start: true }, { setPlan: [{ id: 'a', text: 'b' }] }),
    'during[0].do.setPlan[0].text',
  ],
  ['in an expected step', { expected: { plan: [{ name: 'a' }] } }, 'expected.plan[0].name'],
  ['in an expected brief', { expected: { briefs: [{ has: ['a'] }] } }, 'expected.briefs[0].has'],
])('an unknown key %s is named', (_, document, path) => {
  expect(problemsOf(document)).toContain(`case.json: ${path}: unknown key`);
});

test.each<[string, object, string]>([
  ['a script of checks', { checks: { open: [{ ok: 1 }] } }, 'checks'],
  ['scripts of cycles', { cycles: [{ model: [] }] }, 'cycles'],
  ['reviews', { reviews: [{ objective_valid: true }] }, 'reviews'],
  ['judges', { judges: { q: [{ score: 1 }] } }, 'judges'],
  ['an expected number of cycles', { expected: { cycles: 1 } }, 'expected.cycles'],
  ['expected briefs', { expected: { briefs: [{}] } }, 'expected.briefs'],
  ['a message to a goal', during({ start: true }, { steer: 'x' }), 'during[0].do.steer'],
  [
    'a decision on a question of a goal',
    during({ start: true }, { resolveApproval: { decision: 'approve', goal: true } }),
    'during[0].do.resolveApproval.goal',
  ],
  ['an event of a goal', during({ event: 'cycle_started' }, { close: true }), 'during[0].on.event'],
  [
    'a cycle in a pattern',
    during({ event: 'stop', cycle: 1 }, { close: true }),
    'during[0].on.cycle',
  ],
])('%s without goalLoop is an error that says so', (_, changes, path) => {
  const { goalLoop: _loop, ...plain } = GOOD;
  const document = { ...plain, ...changes };
  const text = JSON.stringify(document);
  expect(() => parseFixture(text, 'case.json')).toThrow(`${path}: goes with goalLoop only`);
});

test('what a task of a single run says does not go with a goal', () => {
  expect(problemsOf({ task: { outputSchema: {} } })).toContain('task.outputSchema: does not go');
  expect(problemsOf({ task: { caller: 'cleo' } })).toBe('');
});

test('a script for a check or a judge that the goal does not have is named', () => {
  expect(problemsOf({ checks: { other: [{ ok: 1 }] } })).toContain('checks.other: is no check');
  const goalLoop = { ...LOOP, judges: { quality: {} } };
  expect(problemsOf({ goalLoop, judges: { other: [{ score: 1 }] } })).toContain(
    'judges.other: is no judge',
  );
});

test('a review or checkpoint setting on a single run points to goalLoop', () => {
  const { goalLoop: _, ...plain } = GOOD;
  for (const settings of [{ reviewEvery: { turns: 1 } }, { checkpointEvery: 3 }]) {
    const fixture = parseFixture(JSON.stringify({ ...plain, settings }), 'case.json');
    expect(notYet(fixture)).toMatch(/settings\.(reviewEvery|checkpointEvery): .*goalLoop/);
  }
});

test('the goal of a case has its text as objective, its own agent and the tools of its checks', () => {
  const { goal, tools, manifest } = read({ reviews: [{ objective_valid: true }] });
  expect(goal?.definition).toMatchObject({ objective: 'Match.', agent: 'case' });
  expect(goal?.definition.reviewer).toBeDefined();
  expect(tools.get('open')).toMatchObject({ effect: 'read', idempotency: 'natural' });
  expect(manifest).not.toContain('open');
});

test('a definition that makes no sense is for the runtime to refuse', () => {
  expect(problemsOf({ goalLoop: {} })).toBe('');
  expect(problemsOf({ goalLoop: { ...LOOP, budget: { maxCostMicroUsd: -5 } } })).toBe('');
});

test('money may be said in USD, once', () => {
  const loop = {
    ...LOOP,
    budget: { maxCostUsd: 0.5, hardMaxCostUsd: 1 },
    cycle: { maxCostUsd: 0.1 },
  };
  expect(read({ goalLoop: loop, budget: { maxCostUsd: 2 } })).toMatchObject({
    budget: { maxCostMicroUsd: 2_000_000 },
    goal: {
      definition: {
        budget: { maxCostMicroUsd: 500_000, hardMaxCostMicroUsd: 1_000_000 },
        cycle: { maxCostMicroUsd: 100_000 },
      },
    },
  });
  expect(problemsOf({ budget: { maxCostUsd: 1, maxCostMicroUsd: 5 } })).toBe(
    'case.json: budget.maxCostUsd: maxCostMicroUsd says the same limit; give one of them',
  );
  expect(problemsOf({ budget: { maxCostUsd: -1 } })).toContain('an amount in USD from 0');
});
