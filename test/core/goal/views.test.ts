/** What people are shown of a goal, and answers that nobody waits for. */
import { answered } from '../../../core/goal/question.js';
import { questionOfGoal, viewOfGoal } from '../../../core/goal/result.js';
import type { OpenGoal } from '../../../core/state/goal/goal.js';
import type { GoalTerms } from '../../../core/state/goal/terms.js';
import { count, ScriptedGoal, TERMS } from './shell.js';

const DAY_MS = 86_400_000;
const approval: GoalTerms['approval'] = [
  { before: 'first_cycle', roles: [], quorum: 1, expiresInMs: DAY_MS, onExpiry: 'stop' },
];
const asks = () =>
  new ScriptedGoal({ terms: { approval }, checks: { open: [count(9), count(0, [0])] } }).run(
    ({ goal }) => goal.asks.length > 0,
  );

test('a view has the terms of a goal once it is open', () => {
  const shell = new ScriptedGoal({ checks: { open: [count(9)] } });
  expect(viewOfGoal(shell.goal)).not.toHaveProperty('budget');
  shell.run(({ goal }) => goal.terms !== undefined);
  const { budget, pace } = TERMS;
  expect(viewOfGoal(shell.goal)).toMatchObject({ opened: true, budget, pace, memory: 'm0' });
});

test('a question is found by its own id, open and closed, and no other one is', () => {
  const shell = asks();
  const { id } = shell.goal.asks[0]!;
  expect(questionOfGoal(shell.goal, id)).toMatchObject({ outcome: 'pending', ask: { askId: id } });
  expect(questionOfGoal(shell.goal, `${id}x`)).toBeNull();
  shell.decideAsk('approve').run(({ goal }) => goal.asks.length === 0);
  expect(questionOfGoal(shell.goal, id)).toEqual({ outcome: 'approved' });
  expect(questionOfGoal(shell.goal, `${id}x`)).toBeNull();
});

test('a refused decision names its nonce', () => {
  const shell = asks();
  const [ask] = shell.goal.asks;
  const said = { v: 1, decision: 'approve', by: 'eve', roles: [], decidedAt: shell.now } as const;
  const decision = { ...said, askId: `${ask!.id}x`, argsHash: ask!.digest, nonce: 'n-1' };
  shell.take({ type: 'decision', decision, at: shell.now });
  expect(shell.of('warning').at(-1)?.about).toMatchObject({ by: 'eve', nonce: 'n-1' });
  const { nonce: _, ...bare } = decision;
  shell.take({ type: 'decision', decision: bare, at: shell.now });
  expect(shell.of('warning').at(-1)?.about).not.toHaveProperty('nonce');
});

test('the answer to a question that no pass asks changes nothing', () => {
  const shell = new ScriptedGoal({ checks: { open: [count(9)] } });
  shell.run(({ goal }) => goal.pass !== undefined);
  const goal = shell.goal as OpenGoal;
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
  const output = { costMicroUsd: 5, usage, calls: 1, eventsUpTo: 0 };
  expect(answered(goal, 'ask_judge-9', output)).toBe(goal);
  const { pass: _, ...resting } = goal;
  expect(answered(resting as OpenGoal, 'ask_judge-9', output)).toBe(resting);
});

test('four checks run at a time', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const checks = names.map((name) => ({ name, tool: name, timeoutMs: 60_000 }));
  const shell = new ScriptedGoal({ terms: { checks } });
  let most = 0;
  shell.run(({ goal }) => {
    most = Math.max(most, Object.keys(goal.pass?.checking ?? {}).length);
    return goal.passes > 0;
  });
  expect(most).toBe(4);
});
