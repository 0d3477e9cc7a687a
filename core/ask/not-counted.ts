/**
 * Decisions that do not count, or not yet: refused, faster than their question, or signed with a key that the run has
 * not been told of.
 * Invariant: each either waits, or its sender and the run's events say why it does not count.
 */
import { follows } from '../step/changes.js';
import type { Decision, Verdict } from '../state/ask.js';
import type { Run } from '../state/run.js';
import { awaitingKeys } from './await-keys.js';
import { keepEarly } from './early-decision.js';
import { tellRefusal, type Refusal } from './told.js';

export interface Recorded {
  readonly run: Run;
  /** undefined: the sender's ticket is kept, and answered later. */
  readonly verdict: Verdict | undefined;
}

/** Where a decision comes from. */
export interface Sender {
  /** Who waits for the verdict. */
  readonly ticket: string | undefined;
  /** It may wait for keys that the run is told later. */
  readonly mayWait: boolean;
  /** When it came, ms since epoch. */
  readonly at: number;
}

export const PENDING: Verdict = { accepted: true, outcome: 'pending' };

interface Unproven extends Sender {
  readonly proof: Refusal;
}

export function unproven(
  run: Run,
  decision: Decision,
  { proof, ticket, mayWait, at }: Unproven,
): Recorded {
  if (!mayWait || proof.reason !== 'unknown_key') return reject(run, decision, proof);
  const waits = { decision, at, ...(ticket !== undefined && { ticket }) };
  const kept = awaitingKeys(run, waits) ?? { objection: proof };
  if ('objection' in kept) return reject(run, decision, kept.objection);
  // The same again is told what is known.
  const isKept = ticket !== undefined && kept.run !== run;
  return { run: kept.run, verdict: isKept ? undefined : PENDING };
}

/** A decision may be faster than the question that it answers (G12). */
export function recordedEarly(run: Run, decision: Decision, sender: Sender): Recorded {
  const { run: next, objection } = keepEarly(run, decision, sender.at);
  if (objection === undefined) return { run: next, verdict: PENDING };
  return follows(run, 'keysFetched')
    ? unproven(next, decision, { ...sender, proof: objection })
    : reject(next, decision, objection);
}

export function reject(
  run: Run,
  decision: Decision,
  { reason, message, decided }: Refusal,
): Recorded {
  const refusal = { reason, message, ...(decided !== undefined && { decided }) };
  return {
    run: tellRefusal(run, decision, refusal),
    verdict: { accepted: false, ...refusal },
  };
}
