/**
 * Sessions: runs that share a conversation. A run either begins one, goes on with the newest
 * state of one, or forks one; what it leaves is stored after its end, if it is to be kept.
 * Invariants: a run never changes a session that has changed since it read it (`base`); a fork has a task id
 * of its own; grants, budgets, evidence and counters belong to one run and are not carried, but for what bounds a whole
 * session (G103).
 */
import type { State } from './dataflow.js';
import type { ContextSize } from './context-size.js';

/** What a start says of its session. */
export interface SessionStart {
  /** The session that this run belongs to; default: the resumed one, else one with the run's own id. */
  readonly id?: string;
  /** The session whose conversation the run goes on with. Under another `id` that is a fork. */
  readonly resume?: string;
  /** The run does not go on with the resumed session but begins another one with its conversation. */
  readonly fork?: true;
  /** A fork that takes over the messages up to this one. */
  readonly at?: string;
  /** Where the caller works; with the caller it finds "the latest" session (G63). */
  readonly cwd?: string;
}

/** What outlives a run, beside its conversation. */
export interface SessionCarry {
  readonly v: 1;
  /** A run with the same task id goes on counting steps, so that keys stay unique. */
  readonly taskId: string;
  readonly step: number;
  /** The guard of reactive compactions, which is the session's. */
  readonly reactiveAttempts: number;
  /** How often Stop hooks have sent answers back, over the whole session (C32). Absent: never. */
  readonly stopHookReentries?: number;
  /** Dataflow state by path, for later runs below `previous` (G10). */
  readonly state: State;
  /** Size of the conversation, as far as its root stays the same. */
  readonly context?: ContextSize;
}

/** What `open_run` found: the run starts from it. */
export interface OpenedSession {
  readonly id: string;
  /** Revision of the stored session that this run replaces; 0: there is none. */
  readonly base: number;
  /** The session is stored when the run ends. */
  readonly kept: boolean;
  readonly resumed?: ResumedFrom;
  readonly carry?: SessionCarry;
  /** What had to be mended in the conversation, or could not be taken over; in words (G43). */
  readonly remarks?: readonly SessionRemark[];
}

/** The conversation that a run began with, without its own first message. */
export interface ResumedFrom {
  readonly sessionId: string;
  readonly head: string;
  readonly messages: number;
}

export interface SessionRemark {
  readonly code: 'history_repaired' | 'state_not_forked';
  readonly message: string;
}

/** What a run knows of its session. */
export type RunSession = Omit<OpenedSession, 'carry' | 'remarks'> & {
  /** Once it has been stored. */
  readonly saved?: SavedSession;
};

/** What `close_run` stored, under which id. */
export interface SavedSession {
  readonly id: string;
  readonly revision: number;
}

/** What `close_run` is to store. */
export interface SessionToSave {
  readonly id: string;
  readonly base: number;
  readonly agent: string;
  readonly caller?: string;
  readonly cwd?: string;
  readonly title: string;
  readonly carry: SessionCarry;
}
