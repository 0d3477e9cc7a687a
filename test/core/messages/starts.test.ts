/** What starts runs of goals and of runs, and what starts goals: each field has its form. */
import { heardByGoal } from '../../../core/goal/signals.js';
import { parseGoalStart } from '../../../core/messages/parse-goal-start.js';
import { parseStart } from '../../../core/messages/parse-start.js';

const START = { v: 1, agent: 'refund', task: { goal: 'Refund order 1' } };
const PARENT = { kind: 'goal', id: 'g', n: 1, digest: 'd' };
const GOAL = { v: 1, goal: { objective: 'Match all invoices', agent: 'clerk' } };
const ended = (raw: unknown) => heardByGoal({ name: 'childEnded', raw, at: 1 });

test.each([
  ['kind', ['goal', 'run'], ['other', undefined, 1]],
  ['id', ['g', 'run_1'], ['', 'a b', 1, undefined]],
  ['n', [1, 2], [0, -1, 1.5, '1', undefined]],
  ['digest', ['d'], ['', 1, undefined]],
])('%s of a parent has its form', (name, good, bad) => {
  const taken = (value: unknown): boolean =>
    parseStart({ ...START, parent: { ...PARENT, [name]: value } }).ok;
  expect(good.map(taken)).toEqual(good.map(() => true));
  expect(bad.map(taken)).toEqual(bad.map(() => false));
});

test.each([
  ['store', ['0'.repeat(32), undefined], ['0'.repeat(31), 'g'.repeat(32), 1, null]],
  ['tenant', ['acme', undefined], ['', 'a b', 1]],
  ['caller', ['anna', undefined], ['', 1]],
  ['traceId', ['t', undefined], ['', 1]],
  ['from', [{ goalId: 'g' }, undefined], [{}, { goalId: '' }, 'g', null]],
])('%s of the start of a goal has its form', (name, good, bad) => {
  const taken = (value: unknown): boolean => parseGoalStart({ ...GOAL, [name]: value }).ok;
  expect(good.map(taken)).toEqual(good.map(() => true));
  expect(bad.map(taken)).toEqual(bad.map(() => false));
});

test('an end of a run names the run by a text', () => {
  expect(ended('run_1')).toEqual({ type: 'child_ended', child: 'run_1', at: 1 });
  for (const raw of [1, null, {}, ['run_1']])
    expect(ended(raw)).toMatchObject({ type: 'input_rejected', message: 'signal' });
});
