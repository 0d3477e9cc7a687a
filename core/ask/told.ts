/**
 * What a run tells of decisions that reach it.
 * Invariants: under rules with `toldDecisions` every decision that is refused before the run's result is a warning that
 * names it, and every one that counts and that its sender has not written into the audit trail is an event, once.
 */
import { follows } from '../step/changes.js';
import { emit, warn, warnAbout } from '../step/outbox.js';
import type { Run } from '../state/run.js';
import type { Ask, Decided, Decision, RejectionReason } from '../state/ask.js';
import type { WarningCode } from '../state/warning.js';
import { decidedFacts } from './decided-facts.js';

export interface Refusal {
  readonly reason: RejectionReason;
  readonly message: string;
  /** With 'already_decided': what was decided before. */
  readonly decided?: Decided;
  /** It would have counted, and met a correction. */
  readonly held?: true;
}

export const REFUSAL_CODES: { readonly [reason in RejectionReason]?: WarningCode } = {
  mismatched: 'approval_mismatch',
  vague: 'approval_vague',
  late: 'approval_late',
  duplicate: 'approval_duplicate',
  unproven: 'decision_unproven',
  unknown_key: 'decision_unproven',
};

export function tellRefusal<R extends Run>(
  run: R,
  refused: Pick<Decision, 'askId' | 'by' | 'decision' | 'argsHash' | 'nonce'>,
  { reason, message, decided, held }: Refusal,
): R {
  const { askId, by, decision, argsHash, nonce } = refused;
  const code = REFUSAL_CODES[reason] ?? 'decision_ignored';
  const text = `${decision} by ${by} on ${askId} ignored: ${message}`;
  if (!follows(run, 'toldDecisions')) return warn(run, code, text);
  const about = {
    askId,
    decision,
    by,
    argsHash,
    reason,
    ...(nonce !== undefined && { nonce }),
    ...(decided !== undefined && { decided }),
    ...(held && { held }),
  };
  return warnAbout(run, { code, message: text, about });
}

export function tellTaken<R extends Run>(run: R, ask: Ask, taken: Decision): R {
  if (taken.unrecorded !== true || !follows(run, 'toldDecisions')) return run;
  return emit(run, {
    type: 'decision_recorded',
    askId: ask.id,
    ...(ask.callId !== undefined && { callId: ask.callId }),
    decision: taken.decision,
    by: taken.by,
    facts: decidedFacts(ask, taken),
  });
}
