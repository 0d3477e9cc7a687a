/**
 * What the events of a run tell beside its row: the rule that ended it, the tools it used and how they failed.
 * Its row has most of it; the events of what an older release has written, or a reset has taken back, are read.
 * Invariant: a run of any length costs at most PAGES_MAX pages; what lies before them is not looked at, the end is.
 */
import type { RunEvent } from '../../core/state/event.js';
import type { RunRow } from '../../store/runs.js';
import type { StoredTrail } from '../../store/trail-columns.js';
import type { ReadingStore } from '../link.js';

const PAGE_EVENTS = 500;
const PAGES_MAX = 20;

export async function trailOf(
  store: Pick<ReadingStore, 'readEvents'>,
  { tenant, runId, lastSeq, trail }: Pick<RunRow, 'tenant' | 'runId' | 'lastSeq' | 'trail'>,
): Promise<StoredTrail> {
  return trail ?? trailOfEvents(store, { tenant, runId, lastSeq });
}

/** The same with the rule that ended it, also where no event names one by itself. */
export async function endedTrailOf(
  store: Pick<ReadingStore, 'readEvents'>,
  row: Pick<RunRow, 'tenant' | 'runId' | 'lastSeq' | 'trail'>,
): Promise<StoredTrail> {
  return row.trail?.rule === undefined ? trailOfEvents(store, row) : row.trail;
}

async function trailOfEvents(
  store: Pick<ReadingStore, 'readEvents'>,
  { tenant, runId, lastSeq }: Pick<RunRow, 'tenant' | 'runId' | 'lastSeq'>,
): Promise<StoredTrail> {
  const from = Math.max(0, lastSeq + 1 - PAGES_MAX * PAGE_EVENTS);
  const events: RunEvent[] = [];
  for (let page = 0, since = from; page < PAGES_MAX; page += 1) {
    const read = await store.readEvents({ tenant, runId }, { sinceSeq: since, limit: PAGE_EVENTS });
    events.push(...read.events);
    if (read.events.length < PAGE_EVENTS) break;
    since = read.nextSeq;
  }
  return trailIn(events);
}

function trailIn(events: readonly RunEvent[]): StoredTrail {
  const failed = events.flatMap((event) =>
    event.type === 'tool_finished' && event.status === 'error'
      ? [{ tool: event.tool, code: event.code ?? 'error' }]
      : [],
  );
  const tools = events.flatMap((event) =>
    event.type === 'tool_started' || event.type === 'tool_finished' ? [event.tool] : [],
  );
  const rule = endingRule(events);
  const lastError = failed.at(-1);
  return {
    ...(rule !== undefined && { rule }),
    ...(lastError !== undefined && { lastError }),
    tools: new Set(tools),
    errorCodes: new Set(failed.map(({ code }) => code)),
  };
}

/** Before rules 15 the last rule that told something before the run was closed. */
function endingRule(events: readonly RunEvent[]): string | undefined {
  const at = events.findLastIndex(({ type }) => type === 'stop');
  const stop = events[at];
  if (stop?.type !== 'stop') return undefined;
  if (stop.by !== undefined) return stop.by;
  const before = events.slice(0, at).findLast(({ stamp: { rule } }) => rule !== 'close');
  return before?.stamp.rule ?? stop.stamp.rule;
}
