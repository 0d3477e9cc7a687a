/** What the store has of one run, read in pages. */
import type { ReadingStore } from '../../client/index.js';
import { withWholeReply } from '../../client/read/whole-event.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import { knownAfter, type EndedRun } from '../../pure/next-action.js';
import type { WholeEvent } from '../../pure/sdk/projection.js';
import type { RunName } from '../../store/changes.js';
import type { RunRow } from '../../store/runs.js';

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

/** What the row of a run says; its calls are in its events. */
export function knownOf({ agent, parent, sessionId }: RunRow): EndedRun {
  return {
    ...(agent !== '' && parent === undefined && { agent }),
    ...(sessionId !== undefined && { sessionId }),
    inDoubt: [],
  };
}

/** What the store knows of a run that has ended: its row, and its last events. */
export async function endedIn(store: ReadingStore, run: RunName): Promise<EndedRun | undefined> {
  const row = await store.getRun(run.tenant, run.runId);
  if (row === undefined) return undefined;
  const since = Math.max(0, row.lastSeq + 1 - PAGE_EVENTS);
  const events = await lastEvents(store, run, { since, count: PAGE_EVENTS });
  return events.reduce(knownAfter, knownOf(row));
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
