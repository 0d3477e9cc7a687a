/** Events of a run or goal, the newest first: at most the newest 10,000. */
import type { RunEvent } from '../../core/state/event.js';
import type { RunRow } from '../../store/runs.js';
import type { DeskStore } from '../desk-store.js';

const WINDOW_EVENTS = 500;
const WINDOWS_MAX = 20;

export async function* newestFirst(
  store: Pick<DeskStore, 'readEvents'>,
  { tenant, runId, lastSeq }: Pick<RunRow, 'tenant' | 'runId' | 'lastSeq'>,
): AsyncGenerator<RunEvent, void, undefined> {
  let end = lastSeq + 1;
  for (let window = 0; window < WINDOWS_MAX && end > 0; window += 1) {
    const sinceSeq = Math.max(0, end - WINDOW_EVENTS);
    const query = { sinceSeq, limit: WINDOW_EVENTS };
    const { events } = await store.readEvents({ tenant, runId }, query);
    yield* events.filter(({ stamp }) => stamp.seq < end).reverse();
    end = sinceSeq;
  }
}
