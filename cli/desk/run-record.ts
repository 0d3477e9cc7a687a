/** What the store has of one run, read in pages. */
import type { ReadingStore } from '../../client/index.js';
import { withWholeReply } from '../../client/read/whole-event.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { WholeEvent } from '../../pure/sdk/projection.js';
import type { RunName } from '../../store/changes.js';

export const TENANT = 'default';
const PAGE_EVENTS = 500;

export async function lastEvents(
  store: ReadingStore,
  run: RunName,
  wanted: { readonly since: number; readonly count: number },
): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  let since = wanted.since;
  while (events.length < wanted.count) {
    const page = await store.readEvents(run, {
      sinceSeq: since,
      limit: Math.min(PAGE_EVENTS, wanted.count - events.length),
    });
    if (page.events.length === 0) break;
    events.push(...page.events);
    since = page.nextSeq;
  }
  return events;
}

export function noSuchRun(runId: string): HoldfastError {
  return new HoldfastError('RunNotFound', `There is no run ${runId.slice(0, 200)}.`, {
    hint: 'List the runs with `holdfast list`.',
  });
}

/** With the sources of each reply whose message has more than its event. */
export async function withSources(
  store: ReadingStore,
  run: RunName,
  events: readonly RunEvent[],
): Promise<readonly WholeEvent[]> {
  const whole: WholeEvent[] = [];
  for (const event of events) {
    const { sources } = await withWholeReply({ run, store }, event);
    whole.push(sources === undefined ? event : { ...event, sources });
  }
  return whole;
}
