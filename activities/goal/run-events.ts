/** What the outside saw of a run, for whoever looks for evidence in it. */
import type { RunEvent } from '../../core/state/event.js';
import type { StoreCalls } from '../../store/store.js';

const EVENTS_PER_PAGE = 1_000;
/** Longer runs are read so far. */
const PAGES_MAX = 50;

export async function* eventsOf(
  store: Pick<StoreCalls, 'readEvents'>,
  tenant: string,
  runId: string,
): AsyncGenerator<RunEvent> {
  let sinceSeq = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { events, nextSeq } = await store.readEvents(
      { tenant, runId },
      { sinceSeq, limit: EVENTS_PER_PAGE },
    );
    yield* events;
    if (events.length < EVENTS_PER_PAGE) return;
    sinceSeq = nextSeq;
  }
}
