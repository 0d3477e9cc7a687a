/** What a goal makes of words that carry a signature, with and without a duty of proof. */
import { generateKeyPairSync } from 'node:crypto';
import { signerOf } from '../../../client/decide/desk-signer.js';
import { PROOFS_AT_ONCE_MAX } from '../../../core/ask/verify.js';
import { judgeMessage } from '../../../core/goal/proof.js';
import type { Goal } from '../../../core/state/goal/goal.js';
import type { GoalMessage } from '../../../core/state/goal/message.js';
import { count, ScriptedGoal } from './shell.js';

const newSigner = () => signerOf(generateKeyPairSync('ed25519').privateKey);
const [first, second, stranger] = [newSigner(), newSigner(), newSigner()];

function goalWith({ requireProof }: { readonly requireProof: boolean }): Goal {
  const shell = new ScriptedGoal({ terms: { requireProof }, checks: { open: [count(9)] } });
  const { goal } = shell.run((one) => one.goal.terms !== undefined);
  return { ...goal, deskKeys: [first.key, second.key] };
}

function stop(goal: Goal, signer = first): GoalMessage {
  const said: GoalMessage = { v: 1, id: 'm', by: 'ada', roles: [], at: goal.now, type: 'stop' };
  return signer.signGoalMessage({ tenant: goal.tenant, goalId: goal.runId }, said);
}

const NOT_PROVEN = { ok: true, proven: false };

describe.each([{ requireProof: true }, { requireProof: false }])('with %j', (duty) => {
  const goal = goalWith(duty);
  const must = duty.requireProof;

  test('each of several known keys proves its own signature', () => {
    for (const signer of [first, second])
      expect(judgeMessage(goal, stop(goal, signer))).toMatchObject({ ok: true, proven: true });
  });

  test('a key that the goal does not know proves nothing', () => {
    const judged = judgeMessage(goal, stop(goal, stranger));
    expect(judged).toMatchObject(must ? { ok: false, reason: 'unknown_key' } : NOT_PROVEN);
  });

  test('a signature under the name of another known key proves nothing', () => {
    const judged = judgeMessage(goal, { ...stop(goal), kid: second.key.kid });
    expect(judged).toMatchObject(must ? { ok: false, reason: 'unproven' } : NOT_PROVEN);
  });

  test('without a signature nothing is proven', () => {
    const { proof: _, ...unsigned } = stop(goal);
    const judged = judgeMessage(goal, unsigned as GoalMessage);
    expect(judged).toMatchObject(must ? { ok: false, reason: 'unproven' } : NOT_PROVEN);
  });

  test('so many signatures are verified at one time, and again at a later one', () => {
    let at = goal;
    for (let n = 0; n < PROOFS_AT_ONCE_MAX; n += 1) at = judgeMessage(at, stop(goal)).goal;
    expect(judgeMessage(at, stop(goal))).toMatchObject({ ok: false, reason: 'busy' });
    expect(judgeMessage({ ...at, now: at.now + 1 }, stop(goal))).toMatchObject({ proven: true });
  });
});
