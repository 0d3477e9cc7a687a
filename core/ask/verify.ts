/**
 * Whether a decision proves who made it. `requireProof` is frozen at the start. Without it a
 * signature that is there is kept, not judged.
 *
 * Invariants: with it nothing of a decision is looked at before its signature has been verified, over what
 * this run itself knows: its tenant, its id, the question's kind, the policy's version. However many arrive at
 * once, verifying them never takes longer than a workflow may think: the rest is to be sent again.
 */
import { follows } from '../step/changes.js';
import { verifyEd25519 } from '../json/ed25519.js';
import type { Run } from '../state/run.js';
import type { Ask, Decision, RejectionReason } from '../state/ask.js';
import { statementOf, statementText } from './statement.js';
import { type DeskKey, type SignedStatement } from '../state/statement.js';

export type ProofVerdict =
  /** `signed` only where a proof is required. */
  | { readonly ok: true; readonly signed?: SignedStatement }
  | {
      readonly ok: false;
      readonly reason: Extract<RejectionReason, 'unproven' | 'unknown_key' | 'busy' | 'malformed'>;
      readonly message: string;
    };

/** Each takes some milliseconds of a moment in which nothing else of the worker goes on. */
export const PROOFS_AT_ONCE_MAX = 64;

export interface Judged {
  /** With the signature counted that was verified. */
  readonly run: Run;
  readonly proof: ProofVerdict;
}

export function judgeProof(
  run: Run,
  about: Pick<Ask, 'kind' | 'policyVersion'>,
  decision: Decision,
): Judged {
  const judged = judge(run, about, decision);
  const { proof } = judged;
  if (proof.ok || proof.reason === 'busy' || follows(run, 'unprovenReason')) return judged;
  return { ...judged, proof: UNPROVEN_BEFORE };
}

function judge(run: Run, about: Pick<Ask, 'kind' | 'policyVersion'>, decision: Decision): Judged {
  if (run.frozen?.settings.requireProof !== true) return { run, proof: { ok: true } };
  const { tenant, runId, deskKeys = [] } = run;
  const { kind, policyVersion } = about;
  const statement = statementOf({ tenant, runId, kind, policyVersion }, decision);
  if (statement === undefined || decision.proof === undefined) return { run, proof: UNSIGNED };
  const signed = { statement, signature: decision.proof };
  if (!deskKeys.some(({ kid }) => kid === statement.kid)) {
    const message = 'this run does not know the key that it is signed with';
    return { run, proof: { ok: false, reason: 'unknown_key', message } };
  }
  const verified = run.proofs?.at === run.now ? run.proofs.count : 0;
  if (verified >= PROOFS_AT_ONCE_MAX) return { run, proof: TOO_MANY };
  return {
    run: { ...run, proofs: { at: run.now, count: verified + 1 } },
    proof: isSignedBy(deskKeys, signed) ? { ok: true, signed } : FORGED,
  };
}

export function isSignedBy(
  keys: readonly DeskKey[],
  { statement, signature }: SignedStatement,
): boolean {
  const found = keys.find(({ kid }) => kid === statement.kid);
  return found !== undefined && verifyEd25519(found.key, statementText(statement), signature);
}

/** What the people signed whose word counted. */
export function signaturesOf({ votes }: Pick<Ask, 'votes'>): readonly SignedStatement[] {
  return votes.flatMap(({ signed }) => (signed === undefined ? [] : [signed]));
}

/** Without the change `unprovenReason`. */
const UNPROVEN_BEFORE = {
  ok: false,
  reason: 'malformed',
  message: 'the decision carries no valid signature',
} as const;

const UNSIGNED = {
  ok: false,
  reason: 'unproven',
  message: 'it carries no signature of the desk',
} as const;

const TOO_MANY = {
  ok: false,
  reason: 'busy',
  message: 'too many decisions came at once; decide again',
} as const;

const FORGED = {
  ok: false,
  reason: 'unproven',
  message: 'its signature is not valid for this question of this run',
} as const;
