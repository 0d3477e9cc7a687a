/**
 * The events of runs: appending them, and reading the line that counts (`event-line`, E1).
 * Invariants: appending is idempotent, and projects runs and asks in the same transaction; a reader that
 * names the epoch of its last page is told when what it saw has been superseded.
 */
import { HoldfastError } from '../core/state/errors.js';
import type { RunEvent } from '../core/state/event.js';
import { checkIdentifiers, listLimit } from './bounds.js';
import { holdRun, immediate, rowsOf, snapshot, type Db } from './database.js';
import { appendToLine, epochOf, type EventSource } from './event-line.js';

export type { EventSource } from './event-line.js';

/** Most events of one append. */
export const APPEND_EVENTS_MAX = 1000;

export interface EventsQuery {
  /** First seq wanted (inclusive). */
  readonly sinceSeq: number;
  readonly limit: number;
  /** The epoch of the page before: with it, the answer tells whether events seen before were superseded. */
  readonly epoch?: number;
}

export interface EventsPage {
  readonly events: readonly RunEvent[];
  /** The `sinceSeq` of the next page. */
  readonly nextSeq: number;
  /** Grows when events are superseded; 0 at first. */
  readonly epoch: number;
  /** Forget events from this seq on: they were superseded, and this page starts there. */
  readonly reset?: { readonly fromSeq: number };
}

export interface Events {
  /**
   * Stores consecutive events, at most APPEND_EVENTS_MAX, and projects runs and asks, in one transaction;
   * idempotent. Gives the number below which all events of this execution are stored: the last seq + 1,
   * and for no events what this execution itself stored before (0: nothing). In a transaction nobody
   * else writes for the run after it.
   * Errors: `InvalidRequest` for a batch with gaps.
   */
  appendEvents(source: EventSource, events: readonly RunEvent[]): Promise<number>;
  /** Events that are not superseded, in order. */
  readEvents(
    run: { readonly tenant: string; readonly runId: string },
    query: EventsQuery,
  ): Promise<EventsPage>;
  /** The first of them; undefined: none is stored. */
  firstEvent(run: {
    readonly tenant: string;
    readonly runId: string;
  }): Promise<RunEvent | undefined>;
}

export function events(db: Db): Events {
  return {
    async appendEvents(source, batch) {
      const { tenant, runId, execution } = source;
      checkIdentifiers({ tenant, runId, execution });
      const first = batch[0]?.stamp.seq;
      if (first === undefined) {
        return immediate(db, async (tx) => {
          await holdRun(tx, source);
          return storedUpTo(tx, source);
        });
      }
      checkBatch(batch, first);
      const rows = batch.map((event) => ({
        seq: event.stamp.seq,
        at: event.stamp.at,
        body: JSON.stringify(event),
      }));
      await immediate(db, (tx) => appendToLine(tx, source, { batch, rows, first }));
      return first + batch.length;
    },
    async readEvents(run, query) {
      checkIdentifiers({ tenant: run.tenant, runId: run.runId });
      return snapshot(db, (tx) => readPage(tx, run, query));
    },
    async firstEvent({ tenant, runId }) {
      checkIdentifiers({ tenant, runId });
      const [first] = await rowsOf<{ readonly body: string }>(db, FIRST, { tenant, runId });
      return first && (JSON.parse(first.body) as RunEvent);
    },
  };
}

const FIRST = `
  select body from events where tenant = @tenant and run_id = @runId and superseded = 0 order by seq limit 1`;

/**
 * Only rows of the execution itself: after a reset the old line may be longer than what the new
 * execution has emitted, and acknowledging that would drop events that were never stored.
 */
async function storedUpTo(db: Db, { tenant, runId, execution }: EventSource): Promise<number> {
  const newest = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('tenant', '=', tenant)
    .where('run_id', '=', runId)
    .where('execution', '=', execution)
    .executeTakeFirst();
  return typeof newest?.seq === 'number' ? newest.seq + 1 : 0;
}

async function readPage(
  tx: Db,
  run: { readonly tenant: string; readonly runId: string },
  query: EventsQuery,
): Promise<EventsPage> {
  const epoch = await epochOf(tx, run);
  const resetFrom = query.epoch === undefined ? undefined : await resetSince(tx, run, query.epoch);
  const wasSeen = resetFrom !== undefined && resetFrom < query.sinceSeq;
  const from = wasSeen ? resetFrom : query.sinceSeq;
  const rows = await tx
    .selectFrom('events')
    .select(['seq', 'body'])
    .where('tenant', '=', run.tenant)
    .where('run_id', '=', run.runId)
    .where('superseded', '=', 0)
    .where('seq', '>=', from)
    .orderBy('seq')
    .limit(listLimit(query.limit))
    .execute();
  const last = rows.at(-1);
  return {
    // Our own form of an event that was typed when it came in.
    events: rows.map((row) => JSON.parse(row.body) as RunEvent),
    nextSeq: last === undefined ? from : last.seq + 1,
    epoch,
    ...(wasSeen ? { reset: { fromSeq: from } } : {}),
  };
}

async function resetSince(
  tx: Db,
  run: { readonly tenant: string; readonly runId: string },
  epoch: number,
): Promise<number | undefined> {
  const lowest = await tx
    .selectFrom('resets')
    .select((eb) => eb.fn.min('from_seq').as('fromSeq'))
    .where('tenant', '=', run.tenant)
    .where('run_id', '=', run.runId)
    .where('epoch', '>', epoch)
    .executeTakeFirst();
  return lowest?.fromSeq ?? undefined;
}

function checkBatch(batch: readonly RunEvent[], first: number): void {
  const consecutive = batch.every((event, index) => event.stamp.seq === first + index);
  if (consecutive && first >= 0 && batch.length <= APPEND_EVENTS_MAX) return;
  throw new HoldfastError('InvalidRequest', 'The events of one append must follow one another.', {
    hint: `Send at most ${APPEND_EVENTS_MAX} events with seq rising by one.`,
  });
}
