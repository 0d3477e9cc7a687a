/** A supervisor: an agent without tools that looks at a run from time to time and says how the run goes on. */
import type { StoredText } from '../json/json.js';
import type { ModelRoute, Usage } from './model.js';

/** Events after which a look can be due. */
export const WATCHED_EVENTS = [
  'model_response',
  'validation',
  'permission',
  'approval_requested',
  'approval_resolved',
  'approval_escalated',
  'input_request',
  'input_provided',
  'user_message',
  'warning',
  'tool_finished',
  'tool_reconciled',
  'compact_boundary',
  'model_error',
] as const;

export type WatchedEvent = (typeof WATCHED_EVENTS)[number];

export const SUPERVISION_LIMITS = {
  /** Of what the supervisor says to the run, or asks a person; characters. */
  textChars: 2_000,
  /** Of why; characters. */
  becauseChars: 500,
  /** Looks of one run. */
  looks: 1_000,
} as const;

/** What is fixed of the supervisor of a run. */
export interface SupervisorTerms {
  readonly agent: { readonly name: string; readonly version: string };
  readonly route: ModelRoute;
  readonly instructions: StoredText;
  /** Of one answer. */
  readonly maxTokens: number;
  /** A look is due after so many turns; absent: turns alone call for none. */
  readonly everyTurns?: number;
  /** A look is due after an event of these. */
  readonly on?: readonly WatchedEvent[];
  /** Who answers its questions; empty: anybody who may answer questions. */
  readonly roles: readonly string[];
}

/** Nothing else is in its power. */
export type SupervisorDecision = 'go_on' | 'steer' | 'interrupt' | 'ask';

export interface SupervisorWord {
  readonly decision: SupervisorDecision;
  readonly because: string;
  /** With 'steer' to the run, with 'ask' to a person. */
  readonly text?: string;
}

/** What a run knows of its supervision. */
export interface Supervision {
  /** Looks that have begun. */
  readonly looks: number;
  /** Turns of the run at the newest one. */
  readonly turns: number;
  /** Events below this number have been looked at. */
  readonly seen: number;
  readonly on?: readonly WatchedEvent[];
  /** An event that calls for a look has come since. */
  readonly due?: true;
  /** What the newest look said, until a rule has heeded that. */
  readonly word?: SupervisorWord & { readonly usage: Usage; readonly costMicroUsd: number };
  /** The interrupt of the run is its word. */
  readonly interrupts?: true;
  /** The question to a person, while it is open. */
  readonly askId?: string;
}
