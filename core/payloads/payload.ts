/** What the payloads of all activities have: whose they are, and events on their way to the store. */
import type { WireEvent } from '../event.js';

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
