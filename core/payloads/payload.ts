/** What the payloads of all activities have: whose they are, and events on their way to the store. */
import type { WireEvent } from '../event.js';

/** The version of every payload that this code makes, and the only one that it reads. */
export const PAYLOAD_VERSION = 1;

/** Where a payload belongs; first in every activity input. */
export interface RunRef {
  readonly tenant: string;
  readonly runId: string;
  readonly traceId: string;
}

export function refOf(run: RunRef): RunRef {
  return { tenant: run.tenant, runId: run.runId, traceId: run.traceId };
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
}

/** Of work on the outside. */
export interface Limited {
  /** An attempt is refused when all attempts so far have worked as long, ms; absent: no limit. */
  readonly workMs?: number;
}
