/** How many quick reads of a load were tried within the task that decided, and not as ordinary activities. */
import type { Place } from './place.js';

export interface QuickShare {
  readonly within: number;
  readonly ordinary: number;
}

/** Of these runs, by their histories. */
export async function quickShareOf(place: Place, ids: readonly string[]): Promise<QuickShare> {
  let [within, ordinary] = [0, 0];
  for (const id of ids) {
    const { events } = await place.client.workflow.getHandle(id).fetchHistory();
    for (const { markerRecordedEventAttributes: marker, ...event } of events ?? []) {
      const scheduled = event.activityTaskScheduledEventAttributes?.activityType?.name;
      const [tried] = marker?.details?.['data']?.payloads ?? [];
      if (tried?.data && Buffer.from(tried.data).includes('"execute_tool"')) within += 1;
      if (scheduled === 'execute_tool') ordinary += 1;
    }
  }
  return { within, ordinary };
}
