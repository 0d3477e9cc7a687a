/** Stores the events that an activity brought along: the first thing every activity does. */
import type { EventBatch, RunRef } from '../core/effect.js';
import type { StoreCalls } from '../store/store.js';
import type { Scope } from './scope.js';

/** Gives the number below which all events of this execution are stored. */
export function appendEvents(
  store: Pick<StoreCalls, 'appendEvents'>,
  scope: Scope,
  { run, events }: EventBatch & { readonly run: RunRef },
): Promise<number> {
  const { tenant, runId, traceId } = run;
  const whole = events.map((event) => ({ ...event, stamp: { ...event.stamp, runId, traceId } }));
  return store.appendEvents({ tenant, runId, execution: scope.execution }, whole);
}
