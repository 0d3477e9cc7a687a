/**
 * One mechanism for every question to a person: approval, unknown outcome, budget, clarifying question,
 * the next user message.
 * Invariants: an ask is bound to one digest; it leaves 'pending' exactly once; answers never change a
 * closed ask.
 */
import type { Json } from '../json.js';
import type { Correction } from './correction.js';
import type { GrantRequest } from './grants.js';

export type AskKind = 'approval' | 'outcome' | 'budget' | 'input' | 'user_message';

/** Vocabulary G93, and the answers to an unknown outcome (G82). */
export type AskOutcome =
  | 'pending'
  | 'approved'
  | 'rejected'
  | 'modified'
  | 'replaced'
  | 'expired'
  | 'withdrawn'
  | 'happened'
  | 'not_happened'
  | 'stopped'
  | 'answered';

export interface Vote {
  readonly by: string;
  readonly roles: readonly string[];
  readonly decision: DecisionKind | 'answer';
  readonly decidedAt: number;
  readonly reason?: string;
  readonly value?: Json;
  /** With 'approve' of a budget question: how much more. */
  readonly amount?: number;
  readonly grant?: GrantRequest;
  readonly nonce?: string;
  readonly proof?: string;
}

export interface Ask {
  readonly id: string;
  readonly kind: AskKind;
  /** Key of the call it is about. */
  readonly callKey?: string;
  readonly callId?: string;
  readonly tool?: string;
  readonly toolVersion?: string;
  readonly args?: Json;
  readonly question?: string;
  readonly digest: string;
  readonly roles: readonly string[];
  readonly quorum: number;
  readonly policyVersion: string;
  readonly requestedBy?: string;
  readonly openedAt: number;
  /** ms since epoch; a decision counts when its `decidedAt` is not later (G95). */
  readonly expiresAt: number;
  readonly onExpiry: 'reject' | 'stop';
  readonly votes: readonly Vote[];
  readonly outcome: AskOutcome;
  /** Somebody wants another action; the ask stays pending while it is looked at (G81). */
  readonly correction?: Correction;
  /** Corrections taken up so far. */
  readonly corrections?: number;
  /** The expiry timer has fired; decisions made in time still count until the ask is closed. */
  readonly elapsed: boolean;
  readonly timer: string;
}

export type DecisionKind =
  'approve' | 'reject' | 'modify' | 'replace' | 'happened' | 'not_happened' | 'stop';

/**
 * A decision as it arrives by signal or Update (design §9). `argsHash` must echo the ask's digest:
 * consent that names no exact action is not consent (PA-09).
 */
export interface Decision {
  readonly v: 1;
  readonly askId: string;
  readonly argsHash: string;
  readonly decision: DecisionKind;
  readonly by: string;
  readonly roles: readonly string[];
  /** ms since epoch, set by the desk that authenticated the person. */
  readonly decidedAt: number;
  readonly reason?: string;
  /** With 'happened': what the tool would have returned. */
  readonly value?: Json;
  /** With 'modify' and 'replace': the arguments that shall be used instead. */
  readonly args?: Json;
  /** With 'replace': the tool that shall be called instead. */
  readonly tool?: string;
  /** With 'approve' of a budget question: how much more, in the budget's own unit (G91). */
  readonly amount?: number;
  /** With 'approve': covers later calls as well (G13). */
  readonly grant?: GrantRequest;
  /** Names this decision, so that it counts once however often it is delivered. */
  readonly nonce?: string;
  /** Signature; kept and passed on, verified once decisions must be proven. */
  readonly proof?: string;
}

/** What the sender of a decision learns. */
export type Verdict =
  | { readonly accepted: true; readonly outcome: AskOutcome }
  | { readonly accepted: false; readonly reason: RejectionReason; readonly message: string };

export type RejectionReason =
  | 'unknown_ask'
  | 'mismatched'
  | 'vague'
  | 'late'
  | 'duplicate'
  | 'already_decided'
  | 'role_missing'
  | 'own_request'
  /** Another correction is being looked at. */
  | 'busy'
  /** Validation or policy refuses the corrected action; the original stays pending. */
  | 'correction_refused'
  | 'not_applicable'
  | 'malformed'
  | 'run_closing';
