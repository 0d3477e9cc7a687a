/** Who spoke: words that must be signed, keys that a goal does not know yet, and names of those who decided. */
import type { Decision } from '../../../core/state/ask.js';
import type { GoalMessage } from '../../../core/state/goal/message.js';
import { count, ScriptedGoal } from './shell.js';

const DAY_MS = 86_400_000;
const asked = (shell: ScriptedGoal) => shell.goal.asks.length > 0;
const approval = (before: 'first_cycle' | 'handoff') => [
  { before, roles: ['lead'], quorum: 1, expiresInMs: DAY_MS, onExpiry: 'stop' as const },
];
const SIGNED = { kid: 'desk-2', nonce: 'n1', proof: 'c2lnbmF0dXJl' };

function fetches(shell: ScriptedGoal): number {
  return shell.effects.filter(({ kind }) => kind === 'fetch_keys').length;
}

function decide(shell: ScriptedGoal, more: Partial<Decision>): void {
  const [ask] = shell.goal.asks;
  const decision: Decision = {
    v: 1,
    askId: ask!.id,
    argsHash: ask!.digest,
    decision: 'approve',
    by: 'carla',
    roles: ['lead'],
    decidedAt: shell.now,
    ...more,
  };
  shell.take({ type: 'decision', decision, at: shell.now });
}

function stop(shell: ScriptedGoal, more: Partial<GoalMessage>): void {
  const said = { v: 1, id: 'm', by: 'berta', roles: [], at: shell.now, type: 'stop', ...more };
  shell.take({ type: 'goal_message', message: said as GoalMessage, at: shell.now });
}

describe('where decisions and words must be signed', () => {
  const waitsForLead = () =>
    new ScriptedGoal({
      terms: { requireProof: true, approval: approval('first_cycle') },
      checks: { open: [count(9)] },
    }).run(asked);

  test('a decision under a key that is not known waits for the keys, and counts for nothing under none of them', () => {
    const shell = waitsForLead();
    decide(shell, SIGNED);
    expect(shell.goal.unjudged).toHaveLength(1);
    expect(fetches(shell)).toBe(1);
    expect(shell.of('warning')).toEqual([]);
    shell.run(({ goal }) => goal.unjudged.length === 0);
    expect(shell.of('warning').at(-1)?.message).toContain('does not know the key');
    expect(shell.goal.asks).toHaveLength(1);
  });

  test('a decision without a signature is refused at once: no key would help', () => {
    const shell = waitsForLead();
    decide(shell, {});
    expect(fetches(shell)).toBe(0);
    expect(shell.of('warning').at(-1)?.message).toContain('carries no signature');
    expect(shell.goal.asks).toHaveLength(1);
  });

  test('so does a word of a person, and so is one without a signature', () => {
    const shell = waitsForLead();
    stop(shell, {});
    expect(fetches(shell)).toBe(0);
    expect(shell.of('warning').at(-1)?.message).toContain('carries no signature');
    stop(shell, { id: 'm2', kid: SIGNED.kid, proof: SIGNED.proof });
    expect(shell.goal.unjudged).toHaveLength(1);
    expect(fetches(shell)).toBe(1);
    shell.run(({ goal }) => goal.unjudged.length === 0);
    expect(shell.of('warning').at(-1)?.message).toContain('does not know the key');
    expect(shell.goal.final).toBeUndefined();
  });
});

test('a handoff that somebody approved names the person', () => {
  const shell = new ScriptedGoal({
    terms: { handoffTo: ['other'], approval: approval('handoff') },
    checks: { open: [count(9), count(8), count(0, [0])] },
    cycles: [{ close: { handoff: { to: 'other', because: 'Its trade.' } } }, {}],
  }).run(asked);
  shell.decideAsk('approve', 'carla', ['lead']).run();
  expect(shell.of('handoff')).toEqual([
    expect.objectContaining({ to: 'other', by: 'carla', because: 'approved' }),
  ]);
});
