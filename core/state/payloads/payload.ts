/** What the payloads of all activities have: whose they are, and events on their way to the store. */
import type { WireEvent } from '../event.js';

/** The store that has a run's records (G116). */
export interface StoreRef {
  /** Made with the store. */
  readonly id: string;
  /** From 1: how often an older copy of the store has taken its place. */
  readonly epoch: number;
}

/** The version of every payload as code knows it. */
export const PAYLOAD_VERSION = 1;

/** The version of an activity's payload in the form that leaves out what is known (core/step/brief-input.ts). */
export const BRIEF_VERSION = 2;

/** Where a payload belongs; first in every activity input. */
export interface RunRef {
  readonly tenant: string;
  readonly runId: string;
  readonly traceId: string;
  /** As the run knows it; absent: before the run is opened, and under rules without `ownStore`. */
  readonly store?: StoreRef;
}

/** Events on their way to the store; the outcome acknowledges `eventsUpTo`. */
export interface EventBatch {
  readonly events: readonly WireEvent[];
}

export interface Acknowledged {
  /** All events with `seq` below this number are in the store. */
  readonly eventsUpTo: number;
  /** How long its attempts worked, in ms, with the pauses that a model or tool asked for. */
  readonly workedMs?: number;
  /** The store that it met, where that is another than the run knew, or another epoch of it. */
  readonly store?: StoreRef;
}

/** Of work that needs code of its worker. */
export interface NeedsCode {
  /**
   * How long its deliveries may be refused in a row by workers without the code, ms; then it ends as if nobody had the
   * code. Absent: it is not waited for.
   */
  readonly unservedMs?: number;
}

/** Of work that needs the code of a tool. */
export interface NeedsTool extends NeedsCode {
  /** Of the code that it needs. Absent: any of the tool's version. */
  readonly schemaHash?: string;
}

/** Of work on the outside. */
export interface Limited extends NeedsCode {
  /** An attempt is refused when all attempts so far have worked as long, ms; absent: no limit. */
  readonly workMs?: number;
}

/** An attempt within the task that decides, of which the history has the outcome alone. */
export interface QuickAttempt {
  /** Id of the effect, which Temporal does not know of work within a task. */
  readonly effectId: string;
  /** All that it may take, ms. */
  readonly ms: number;
  /** Its outcome leaves out what is mostly so (core/step/brief-output.ts). */
  readonly brief?: true;
}

/**
 * Why an attempt within the task did not answer: its time was over; the worker lacks what it needs; the store cannot be
 * reached, or is another one; the tool failed and may be tried again; the worker is shutting down; somebody outside is asked,
 * who may take longer.
 */
export type ElsewhereReason = 'timeout' | 'unserved' | 'store' | 'failed' | 'stopping' | 'outside';
