/** Stores the events that an activity brought along. */
import { wholeEvents, type EventsInPayload } from '../../core/step/outbox.js';
import type { StoreCalls } from '../../store/store.js';
import type { Scope } from '../scope.js';

/** Gives the number below which all events of this execution are stored. */
export function appendEvents(
  store: Pick<StoreCalls, 'appendEvents'>,
  scope: Scope,
  payload: EventsInPayload,
): Promise<number> {
  const { tenant, runId } = payload.run;
  return store.appendEvents({ tenant, runId, execution: scope.execution }, wholeEvents(payload));
}
