/** Who is asked while a goal is paused, since rules 15, beside a goal of the rules before. */
import { asked, both, ending, inCycle } from './both-rules.js';
import { count, TERMS } from './shell.js';

const BEFORE = 14;

test('people are asked behind the pass that a pause lets end, and their yes ends the paused goal', () => {
  const person = { kind: 'person', roles: [], question: 'Is it fine?' } as const;
  const [goal, older] = both(
    {
      terms: { done: { mode: 'all', conditions: [TERMS.done.conditions[0]!, person] } },
      checks: { open: [count(9), count(0, [0])] },
    },
    BEFORE,
  );
  for (const shell of [goal, older]) shell.run(inCycle).say({ type: 'pause' }, 'rita');
  goal.run(asked);
  expect(goal.goal.paused).toBeDefined();
  expect(ending(goal.decideAsk('approve', 'dora').run())).toBe('completed done_condition');
  older.run();
  expect([older.goal.asks, older.goal.final]).toEqual([[], undefined]);
});

test('a no leaves the goal paused', () => {
  const person = { kind: 'person', roles: [], question: 'Is it fine?' } as const;
  const [goal] = both(
    {
      terms: { done: { mode: 'all', conditions: [TERMS.done.conditions[0]!, person] } },
      checks: { open: [count(9), count(0, [0])] },
    },
    BEFORE,
  );
  goal.run(inCycle).say({ type: 'pause' }, 'rita').run(asked);
  goal.decideAsk('reject', 'dora').run();
  expect(goal.goal.final).toBeUndefined();
  expect(goal.of('cycle_started')).toHaveLength(1);
});
