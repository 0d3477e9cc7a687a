/** Checks on task queues of their own, since rules 19, beside a goal of the rules before. */
import { isActivity } from '../../../core/state/effect.js';
import { both, DONE, ending } from './both-rules.js';
import { count, TERMS, type GoalScript, type ScriptedGoal } from './shell.js';

const BEFORE = 18;
const [OPEN] = TERMS.checks;

function queued(queue: string | undefined): GoalScript {
  return {
    terms: { checks: [{ ...OPEN!, ...(queue !== undefined && { queue }) }], unavailableMs: 90_000 },
    checks: { open: [count(3), DONE] },
  };
}

function places({ effects }: ScriptedGoal) {
  return effects
    .filter(isActivity)
    .filter(({ kind }) => kind === 'run_check')
    .map(({ queue, limits }) => [queue, limits.queuedMs]);
}

test('a check goes to the task queue of its tool, and waits there as long as the goal waits for code', () => {
  const [goal, older] = both(queued('desk.sandbox'), BEFORE);
  expect(ending(goal.run())).toBe('completed done_condition');
  expect(places(goal)).toEqual([
    ['desk.sandbox', 90_000],
    ['desk.sandbox', 90_000],
  ]);
  expect(ending(older.run())).toBe('completed done_condition');
  expect(places(older)).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ]);
});

test('a check whose tool names no queue stays on that of its goal', () => {
  const [goal] = both(queued(undefined), BEFORE);
  goal.run();
  expect(places(goal)).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ]);
});
