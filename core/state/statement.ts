/** What people sign when they decide, and the keys that it is checked with. */
import type { AskKind, DecisionKind } from './ask-kinds.js';
import type { GoalMessageType } from './goal/message.js';

/** A public key of the desk. */
export interface DeskKey {
  readonly kid: string;
  /** 64 hex digits (RFC 8032). */
  readonly key: string;
}

/** Keys that a run knows at the same time: the newest ones. */
export const DESK_KEYS_MAX = 8;

export interface Statement {
  readonly v: 1;
  readonly kid: string;
  readonly tenant: string;
  readonly runId: string;
  readonly askId: string;
  readonly kind: AskKind;
  readonly argsHash: string;
  readonly policyVersion: string;
  readonly decision: DecisionKind;
  /** Digest of what comes with the decision: corrected action, value, amount, grant, reason, interrupt. */
  readonly content: string;
  readonly by: string;
  readonly roles: readonly string[];
  readonly decidedAt: number;
  readonly nonce: string;
}

/** A statement with its signature, as a run keeps it and hands it to whoever executes. */
export interface SignedStatement {
  readonly statement: Statement;
  /** 128 hex digits. */
  readonly signature: string;
}

/** What people sign when they say something to a goal. */
export interface GoalStatement {
  readonly v: 1;
  readonly kind: 'goal_message';
  readonly kid: string;
  readonly tenant: string;
  readonly goalId: string;
  /** Of the message: a statement is about it alone. */
  readonly messageId: string;
  readonly type: GoalMessageType;
  /** Digest of what is said: text, plan, budget, pace and whatever else the message carries. */
  readonly content: string;
  readonly by: string;
  readonly roles: readonly string[];
  readonly at: number;
}
