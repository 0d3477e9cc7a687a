/**
 * Which events of a run count, when several executions of it write.
 * Invariants:
 *  E1 For each run and seq at most one row is not superseded: what readers see is one line of events.
 *  E2 Only the current execution of a run adds to that line. An execution becomes current when it is
 *     first seen; what an older one still sends is stored, superseded. (Continue-as-new and Temporal's
 *     reset both make new executions; an activity of the old one may outlive them.)
 *  E3 An event that arrives unchanged from a later execution is the same event: it supersedes nothing,
 *     so continue-as-new with unacknowledged events is no reset. From the first difference on, the
 *     rest of the old line is superseded, `epoch` grows, and the projection forgets that rest.
 */
import type { RunEvent } from '../core/state/event.js';
import { canonicalJson, type Json } from '../core/json/json.js';
import { change, holdRun, type Db, type Values } from './database.js';
import { project } from './projection.js';

export interface EventSource {
  readonly tenant: string;
  readonly runId: string;
  /** Temporal run id of the execution that emitted the events. */
  readonly execution: string;
}

interface Row {
  readonly seq: number;
  readonly at: number;
  readonly body: string;
}

type LiveRow = Row & { readonly execution: string };

/** Consecutive events and their stored forms. */
export interface Batch {
  readonly batch: readonly RunEvent[];
  readonly rows: readonly Row[];
  readonly first: number;
}

/** Adds a batch to the line, or beside it. Call it in a write transaction. */
export async function appendToLine(
  tx: Db,
  source: EventSource,
  { batch, rows, first }: Batch,
): Promise<void> {
  await holdRun(tx, source);
  if (await continueLine(tx, source, { rows, first })) {
    await project(tx, source, { events: batch });
    return;
  }
  const live = await liveRows(tx, source, { first, count: rows.length });
  if (!(await isCurrent(tx, source, { rows, live }))) {
    await insert(tx, source, { rows, superseded: 1 });
    return;
  }
  const known = rows.findIndex((row) => !isSame(live.get(row.seq), row, source.execution));
  const from = known === -1 ? rows.length : known;
  const epochs = await supersede(tx, source, first + from);
  if (from < rows.length) await insert(tx, source, { rows: rows.slice(from), superseded: 0 });
  if (epochs > 0 || from < rows.length) {
    const reset = epochs > 0 ? { resetFrom: first + from } : {};
    await project(tx, source, { events: batch.slice(from), ...reset });
  }
}

/**
 * What nearly every batch does, as one statement: the current execution adds to the end of the line, so
 * that there is nothing to compare and nothing to supersede. False: nothing was written.
 */
async function continueLine(
  tx: Db,
  { tenant, runId, execution }: EventSource,
  { rows, first }: Pick<Batch, 'rows' | 'first'>,
): Promise<boolean> {
  const values: Record<string, Values[string]> = { tenant, runId, execution, first };
  const tuples = rows.map(({ seq, at, body }, index) => {
    values[`seq${index}`] = seq;
    values[`at${index}`] = at;
    values[`body${index}`] = body;
    return `(cast(@seq${index} as bigint), cast(@at${index} as bigint), @body${index})`;
  });
  const inserted = await change(
    tx,
    `with fresh (seq, at, body) as (values ${tuples.join(', ')})
    insert into events (tenant, run_id, seq, execution, at, superseded, body)
    select @tenant, @runId, seq, @execution, at, 0, body from fresh
    where @execution = (select execution from executions
        where tenant = @tenant and run_id = @runId order by rank desc limit 1)
      and exists (select 1 from runs
        where tenant = @tenant and run_id = @runId and last_seq + 1 = @first)
      and not exists (select 1 from events
        where tenant = @tenant and run_id = @runId and seq >= @first and superseded = 0)`,
    values,
  );
  return inserted > 0;
}

/** E2: registers an execution when it is first seen. */
async function isCurrent(
  tx: Db,
  source: EventSource,
  batch: { readonly rows: readonly Row[]; readonly live: ReadonlyMap<number, LiveRow> },
): Promise<boolean> {
  const ranks = await ofRun(tx, source)
    .select(['execution', 'rank'])
    .orderBy('rank', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (ranks?.execution === source.execution) return true;
  const own = await ofRun(tx, source)
    .select('rank')
    .where('execution', '=', source.execution)
    .executeTakeFirst();
  if (own !== undefined) return false;
  // A first batch that was held up until a reset had already replaced its execution: its first
  // difference is older than what lies there.
  const different = batch.rows.find((row) => isOther(batch.live.get(row.seq), row));
  const late = different !== undefined && different.at < (batch.live.get(different.seq)?.at ?? 0);
  const rank = late ? -1 : (ranks?.rank ?? -1) + 1;
  const { tenant, runId, execution } = source;
  await tx.insertInto('executions').values({ tenant, run_id: runId, execution, rank }).execute();
  return !late;
}

function ofRun(tx: Db, { tenant, runId }: EventSource) {
  return tx.selectFrom('executions').where('tenant', '=', tenant).where('run_id', '=', runId);
}

function isOther(live: LiveRow | undefined, row: Row): boolean {
  return live !== undefined && !isEqual(live, row);
}

/** E3; of one execution the first write stays. */
function isSame(live: LiveRow | undefined, row: Row, execution: string): boolean {
  return live !== undefined && (live.execution === execution || isEqual(live, row));
}

/** Whatever the order of their keys: the code that made an event may have changed since. */
function isEqual(one: Row, other: Row): boolean {
  return one.body === other.body || canonicalBody(one) === canonicalBody(other);
}

function canonicalBody({ body }: Row): string {
  return canonicalJson(JSON.parse(body) as Json);
}

async function liveRows(
  tx: Db,
  { tenant, runId }: EventSource,
  range: { readonly first: number; readonly count: number },
): Promise<ReadonlyMap<number, LiveRow>> {
  const rows = await tx
    .selectFrom('events')
    .select(['seq', 'at', 'body', 'execution'])
    .where('tenant', '=', tenant)
    .where('run_id', '=', runId)
    .where('superseded', '=', 0)
    .where('seq', '>=', range.first)
    .where('seq', '<', range.first + range.count)
    .execute();
  return new Map(rows.map((row) => [row.seq, row]));
}

/** Marks the rest of the line that other executions wrote, and counts it as a reset when there was one. */
async function supersede(tx: Db, source: EventSource, fromSeq: number): Promise<number> {
  const { tenant, runId, execution } = source;
  const marked = await tx
    .updateTable('events')
    .set({ superseded: 1 })
    .where('tenant', '=', tenant)
    .where('run_id', '=', runId)
    .where('superseded', '=', 0)
    .where('seq', '>=', fromSeq)
    .where('execution', '<>', execution)
    .executeTakeFirst();
  if (marked.numUpdatedRows === 0n) return 0;
  const epoch = (await epochOf(tx, source)) + 1;
  await tx
    .insertInto('resets')
    .values({ tenant, run_id: runId, epoch, from_seq: fromSeq })
    .execute();
  return epoch;
}

async function insert(
  tx: Db,
  { tenant, runId, execution }: EventSource,
  { rows, superseded }: { readonly rows: readonly Row[]; readonly superseded: 0 | 1 },
): Promise<void> {
  await tx
    .insertInto('events')
    .values(rows.map((row) => ({ tenant, run_id: runId, execution, superseded, ...row })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** How often events of the run were superseded. */
export async function epochOf(
  db: Db,
  { tenant, runId }: { readonly tenant: string; readonly runId: string },
): Promise<number> {
  const newest = await db
    .selectFrom('resets')
    .select((eb) => eb.fn.max('epoch').as('epoch'))
    .where('tenant', '=', tenant)
    .where('run_id', '=', runId)
    .executeTakeFirst();
  return newest?.epoch ?? 0;
}
