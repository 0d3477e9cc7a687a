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
}
