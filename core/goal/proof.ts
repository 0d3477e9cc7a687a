/**
 * Whether what people say to a goal proves who said it. `requireProof` is fixed when the goal is opened; before that
 * nothing is judged.
 * Invariant: however much arrives at once, verifying never takes longer than a workflow may think.
 */
import { isSignedBy, PROOFS_AT_ONCE_MAX } from '../ask/verify.js';
import { goalStatementOf, goalStatementText, statementOf } from '../ask/statement.js';
import { verifyEd25519 } from '../json/ed25519.js';
import type { Decision } from '../state/ask.js';
import type { Goal } from '../state/goal/goal.js';
import type { GoalMessage } from '../state/goal/message.js';
import type { SignedStatement } from '../state/statement.js';

type Refused = {
  readonly ok: false;
  readonly goal: Goal;
  readonly reason: 'unproven' | 'unknown_key' | 'busy';
  readonly message: string;
};

export type JudgedDecision =
  | { readonly ok: true; readonly goal: Goal; readonly signed: SignedStatement | undefined }
  | Refused;
export type JudgedMessage =
  { readonly ok: true; readonly goal: Goal; readonly proven: boolean } | Refused;

export function judgeDecision(goal: Goal, decision: Decision): JudgedDecision {
  const { terms, tenant, runId, deskKeys = [] } = goal;
  if (terms?.requireProof !== true) return { ok: true, goal, signed: undefined };
  const kind = goal.asks.find(({ id }) => id === decision.askId)?.kind ?? 'approval';
  const place = { tenant, runId, kind, policyVersion: terms.policyVersion };
  const statement = statementOf(place, decision);
  if (statement === undefined || decision.proof === undefined) return unsigned(goal);
  const signed = { statement, signature: decision.proof };
  if (!deskKeys.some(({ kid }) => kid === statement.kid)) return unknownKey(goal);
  const counted = countProof(goal);
  if (counted === undefined) return tooMany(goal);
  return isSignedBy(deskKeys, signed) ? { ok: true, goal: counted, signed } : forged(counted);
}

export function judgeMessage(goal: Goal, message: GoalMessage): JudgedMessage {
  const { terms, tenant, runId, deskKeys = [] } = goal;
  const { kid, proof } = message;
  if (kid === undefined || proof === undefined) {
    return terms?.requireProof === true ? unsigned(goal) : { ok: true, goal, proven: false };
  }
  const key = deskKeys.find((one) => one.kid === kid);
  // Without a duty of proof nobody is refused for a key; nothing is proven then.
  if (key === undefined)
    return terms?.requireProof === true ? unknownKey(goal) : { ok: true, goal, proven: false };
  const counted = countProof(goal);
  if (counted === undefined) return tooMany(goal);
  const statement = goalStatementOf({ tenant, goalId: runId }, message);
  if (statement !== undefined && verifyEd25519(key.key, goalStatementText(statement), proof))
    return { ok: true, goal: counted, proven: true };
  return terms?.requireProof === true
    ? forged(counted)
    : { ok: true, goal: counted, proven: false };
}

function countProof(goal: Goal): Goal | undefined {
  const verified = goal.proofs?.at === goal.now ? goal.proofs.count : 0;
  return verified >= PROOFS_AT_ONCE_MAX
    ? undefined
    : { ...goal, proofs: { at: goal.now, count: verified + 1 } };
}

function unsigned(goal: Goal): Refused {
  return { ok: false, goal, reason: 'unproven', message: 'it carries no signature of the desk' };
}

function unknownKey(goal: Goal): Refused {
  const message = 'this goal does not know the key that it is signed with';
  return { ok: false, goal, reason: 'unknown_key', message };
}

function tooMany(goal: Goal): Refused {
  return { ok: false, goal, reason: 'busy', message: 'too much came at once; send again' };
}

function forged(goal: Goal): Refused {
  return {
    ok: false,
    goal,
    reason: 'unproven',
    message: 'its signature is not valid for this goal',
  };
}
