/**
 * One mechanism for every question to a person: approval, unknown outcome, budget, clarifying question,
 * the next user message.
 * Invariants: an ask is bound to one digest; it leaves 'pending' exactly once; answers never change a
 * closed ask.
 */
import type { LimitsOutlook } from '../controls/outlook.js';
import type { Repeats } from '../controls/repeats.js';
import type { Json } from '../json/json.js';
import type { Elicitation } from './elicitation.js';
import type { GrantRequest } from './grant.js';
import type { SignedStatement } from './statement.js';
import type { ToolCard } from './tool-card.js';
import type { AskKind, AskOutcome, DecisionKind } from './ask-kinds.js';

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
  readonly interrupt?: true;
  readonly nonce?: string;
  readonly proof?: string;
  /** Where proofs are required: what was signed, for whoever verifies it again. */
  readonly signed?: SignedStatement;
}

/** Others who may decide from a moment on, besides the ask's own roles. */
export interface Escalation {
  /** ms since epoch. */
  readonly at: number;
  readonly roles: readonly string[];
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
  /** Its timer has fired when it is 'due'; then it is told once. */
  readonly escalation?: Escalation & {
    readonly timer: string;
    readonly state: 'ahead' | 'due' | 'told';
  };
  /** What was done before: the approval of this once more. */
  readonly repeats?: Repeats;
  /** What is used up of the limits of its tool, when it was proposed. */
  readonly limits?: LimitsOutlook;
  /** What its tool says of its card. */
  readonly card?: ToolCard;
  /** Of a question of the model: on which side of the desk it is answered; absent: on either. */
  readonly answeredBy?: 'customer' | 'staff';
  /** About the money of this sub-agent: its run id. */
  readonly child?: string;
  /** The server of a tool asks, in the middle of its call. */
  readonly elicitation?: Elicitation;
}

/**
 * A decision as it arrives by signal or Update. `argsHash` must echo the ask's digest:
 * consent that names no exact action is not consent.
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
  /** With 'reject' of an approval: the run is interrupted as well, before anything else follows from it. */
  readonly interrupt?: true;
  /** Names this decision, so that it counts once however often it is delivered. */
  readonly nonce?: string;
  /** Names the key of the desk that signed it. */
  readonly kid?: string;
  /** Signature (statement.ts); without `requireProof` it is kept and not judged. */
  readonly proof?: string;
  /** Its sender has not written it into the audit trail: the run's event does. Authorises nothing, and is not signed. */
  readonly unrecorded?: true;
}

/** What the sender of a decision learns. */
export type Verdict =
  | { readonly accepted: true; readonly outcome: AskOutcome }
  | {
      readonly accepted: false;
      readonly reason: RejectionReason;
      readonly message: string;
      /** With 'already_decided': what was decided before. */
      readonly decided?: Decided;
    };

/** How a question was decided. */
export type Decided = {
  readonly outcome: AskOutcome;
  /** Whose word decided it, the last one of a quorum; absent: nobody's. */
  readonly by?: string;
  /** When they decided, ms since epoch. */
  readonly at?: number;
};

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
  /** No signature, or one that is not valid for this question. */
  | 'unproven'
  /** Signed with a key that the run has not been told of yet. */
  | 'unknown_key'
  /** Dated further ahead of the run's time than clocks may differ (G107). */
  | 'clock_ahead'
  | 'run_closing';

/** Decisions that are signed with keys which the run has not been told of (keysFetched). */
export interface KeyWait {
  /** Ids of keys that were asked for lately, in this segment. */
  readonly asked: readonly string[];
  /** When the newest answer came, ms since epoch; absent: none has come yet. */
  readonly askedAt?: number;
  readonly waiting: readonly UnprovenDecision[];
}

export interface UnprovenDecision {
  readonly decision: Decision;
  /** When it came, ms since epoch. */
  readonly at: number;
  /** Who waits for the verdict. */
  readonly ticket?: string;
}

export interface Correction {
  readonly kind: 'modify' | 'replace';
  readonly tool: string;
  readonly args: Json;
  readonly vote: Vote;
  /** Who waits for the verdict. */
  readonly ticket?: string;
  /** What others said while it is checked, in the order of arrival (heldWords). */
  readonly held?: readonly HeldWord[];
}

/** A vote that does not count yet. */
export interface HeldWord {
  readonly vote: Vote;
  /** Who waits for the verdict. */
  readonly ticket?: string;
}

export interface Answer {
  readonly askId: string;
  readonly value: Json;
  readonly by: string;
  /** Of whoever answers; absent: none. */
  readonly roles?: readonly string[];
}

export type DecidedFacts = { readonly [name: string]: Json };

/** A decision that does not count; who made it is what it says of itself. */
export interface RefusedDecision {
  readonly askId: string;
  readonly decision: DecisionKind;
  readonly by: string;
  readonly argsHash: string;
  readonly reason: RejectionReason;
  readonly nonce?: string;
  /** With 'already_decided': what was decided before. */
  readonly decided?: Decided;
  /** It was heard and would have counted, had it not met a correction: it is who it says. */
  readonly held?: true;
}
