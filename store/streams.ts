/**
 * The streams of tokens of runs, in the tables: one row for a run, one for some consecutive chunks.
 * Invariants: only the newest attempt of a run adds chunks, and only until it has ended; an attempt that did
 * not end is reset by the one that follows; what is removed is missing visibly (pure/stream.ts).
 */
import type { StreamedAttempt, StreamEntry, StreamPlace } from '../pure/stream.js';
import { checkIdentifiers } from './bounds.js';
import {
  change,
  changeEach,
  holdStreams,
  immediate,
  rowsOf,
  type Db,
  type Values,
} from './database.js';
import type { StreamChunkTable, StreamTable } from './schema.js';
import type { StreamOf, StreamBatch } from './changes.js';

export interface StreamOpening extends StreamOf, StreamedAttempt {
  readonly eventsBefore: number;
  /** How long chunks are kept after the run, in ms. */
  readonly keepMs: number;
  /** ms since epoch. */
  readonly at: number;
}

export interface StreamEnding extends StreamOf {
  readonly fence: number;
  /** What was not stored yet, the last entry included. */
  readonly rest: readonly StreamBatch[];
  /** Characters of everything that the attempt said. */
  readonly chars: number;
}

export interface StreamPage {
  readonly batches: readonly StreamBatch[];
  /** The page is full. */
  readonly more: boolean;
  /** Of an empty page: the attempt that streams now, as far as the store knows. */
  readonly open?: StreamedAttempt & { readonly fence: number };
  /** The page is empty and the run has ended: nothing comes any more. */
  readonly closed: boolean;
}

export interface Streams {
  /** Begins the stream of an attempt; whatever an earlier one still sends is refused. Gives its first chunks. */
  openStream(opening: StreamOpening): Promise<readonly StreamBatch[]>;
  /** Stores chunks; gives those of attempts that may not stream any more, which are not stored. Idempotent. */
  appendStreams(batches: readonly StreamBatch[]): Promise<readonly StreamBatch[]>;
  /** False: the attempt had ended, or a newer one has begun. Idempotent. */
  endStream(ending: StreamEnding): Promise<boolean>;
  /** The run has ended; its chunks are removed after their time. */
  closeStream(run: StreamOf & { readonly at: number }): Promise<void>;
  /** In order, from a place on: at most STREAM_PAGE_BATCHES. */
  readStream(run: StreamOf, from: StreamPlace): Promise<StreamPage>;
}

/** Most entries of one batch. */
export const STREAM_BATCH_ENTRIES = 256;
const STREAM_PAGE_BATCHES = 200;
/** Above this the chunks of earlier attempts make room: their messages are in the transcript. */
const RUN_CHARS_MAX = 32 * 1024 * 1024;
/** A run that nobody ever closes (terminated, or waiting for weeks) loses its chunks after this. */
const UNCLOSED_KEEP_MS = 14 * 86_400_000;
/** Runs whose chunks are removed when another stream begins or ends. */
const REMOVED_AT_ONCE = 20;

const OPEN = `
  insert into streams (tenant, run_id, fence, open_json, closed, chars, keep_ms, removable_at)
  values (@tenant, @runId, 1, null, 0, 0, @keepMs, @removableAt)
  on conflict (tenant, run_id) do update set fence = streams.fence + 1, closed = 0,
    keep_ms = excluded.keep_ms, removable_at = excluded.removable_at
  returning fence, open_json, chars`;

const NOTE_OPEN = `
  update streams set open_json = @open, chars = @chars where tenant = @tenant and run_id = @runId`;

/** Whoever could not know whether a write arrived writes it again, with what has come since. */
const INSERT = `
  insert into stream_chunks (tenant, run_id, fence, first, count, call, attempt, message_id,
    entries_json)
  select @tenant, @runId, @fence, @first, @count, @call, @attempt, @messageId, @entries
  from streams where tenant = @tenant and run_id = @runId and fence = @fence
    and open_json is not null
  on conflict (tenant, run_id, fence, first) do update set
    count = excluded.count, entries_json = excluded.entries_json`;

const END = `
  update streams set open_json = null, chars = chars + @chars
  where tenant = @tenant and run_id = @runId and fence = @fence and open_json is not null`;

const CLOSE = `
  update streams set closed = 1, removable_at = @at + keep_ms
  where tenant = @tenant and run_id = @runId`;

const CLEAR = `
  delete from stream_chunks where tenant = @tenant and run_id = @runId and fence < @fence`;

const REMOVABLE = `
  select tenant, run_id, fence from streams where removable_at <= @at
  order by removable_at limit ${REMOVED_AT_ONCE}`;

const NOTE_REMOVED = `
  update streams set removable_at = null, chars = 0
  where tenant = @tenant and run_id = @runId and removable_at <= @at`;

const STATE = `
  select fence, open_json, closed from streams where tenant = @tenant and run_id = @runId`;

const READ = `
  select * from stream_chunks where tenant = @tenant and run_id = @runId
    and (fence, first) >= (@fence, coalesce(
      (select max(first) from stream_chunks where tenant = @tenant and run_id = @runId
        and fence = @fence and first <= @index), @index))
  order by fence, first limit ${STREAM_PAGE_BATCHES}`;

export function streams(db: Db): Streams {
  return {
    async openStream(opening) {
      checkIdentifiers(namesOf(opening));
      return immediate(db, (tx) => open(tx, opening));
    },
    appendStreams: async (batches) =>
      batches.length === 0 ? [] : immediate(db, (tx) => append(tx, batches)),
    endStream: (ending) => immediate(db, (tx) => end(tx, ending)),
    async closeStream({ tenant, runId, at }) {
      checkIdentifiers({ tenant, runId });
      if ((await change(db, CLOSE, { tenant, runId, at })) > 0) await removeOld(db, at);
    },
    async readStream(run, from) {
      checkIdentifiers({ tenant: run.tenant, runId: run.runId });
      const page = await readBatches(db, run, from);
      return page.batches.length > 0 ? { ...page, closed: false } : readEnd(db, run, from);
    },
  };
}

const NOTHING = { batches: [], more: false } as const;

/** Nothing is there: whether more can come. */
async function readEnd(db: Db, run: StreamOf, from: StreamPlace): Promise<StreamPage> {
  const { tenant, runId } = run;
  const [state] = await rowsOf<State>(db, STATE, { tenant, runId });
  if (state === undefined) return { ...NOTHING, closed: false };
  const { open_json: open, fence, closed } = state;
  // What was closed by now has all its chunks, and some may have come since we looked.
  const page = closed === 1 ? await readBatches(db, run, from) : NOTHING;
  return {
    ...page,
    ...(open !== null && { open: { ...attemptIn(open), fence } }),
    closed: closed === 1 && page.batches.length === 0,
  };
}

/** Those from a place on. The batch that holds the place may begin before it, and has more than that. */
async function readBatches(
  db: Db,
  { tenant, runId }: StreamOf,
  { fence, index }: StreamPlace,
): Promise<Pick<StreamPage, 'batches' | 'more'>> {
  const rows = await rowsOf<StreamChunkTable>(db, READ, { tenant, runId, fence, index });
  const batches = rows
    .map(batchOf)
    .filter((batch) => batch.fence > fence || batch.first + batch.entries.length > index);
  return { batches, more: rows.length === STREAM_PAGE_BATCHES };
}

type State = Pick<StreamTable, 'fence' | 'open_json' | 'closed'>;
type Opened = Pick<StreamTable, 'fence' | 'open_json' | 'chars'>;

async function open(tx: Db, opening: StreamOpening): Promise<readonly StreamBatch[]> {
  const { tenant, runId, call, attempt, messageId, eventsBefore, keepMs, at } = opening;
  await holdStreams(tx, [opening]);
  await removeOld(tx, at);
  const removableAt = at + UNCLOSED_KEEP_MS;
  const [row] = await rowsOf<Opened>(tx, OPEN, { tenant, runId, keepMs, removableAt });
  const { fence, open_json: dead, chars } = row!;
  const full = chars > RUN_CHARS_MAX;
  if (full) await change(tx, CLEAR, { tenant, runId, fence });
  const self: StreamedAttempt = { call, attempt, messageId };
  const noted = { open: JSON.stringify(self), chars: full ? 0 : chars };
  await change(tx, NOTE_OPEN, { tenant, runId, ...noted });
  const entries: readonly (readonly [StreamedAttempt, StreamEntry])[] = [
    ...(dead === null ? [] : [[attemptIn(dead), LOST] as const]),
    [self, { kind: 'attempt_started', eventsBefore }],
  ];
  const batches = entries.map(([whose, entry], first): StreamBatch => {
    return { tenant, runId, ...whose, fence, first, entries: [entry] };
  });
  await insert(tx, batches);
  return batches;
}

const LOST: StreamEntry = { kind: 'attempt_reset', reason: 'WorkerLost' };

async function append(tx: Db, batches: readonly StreamBatch[]): Promise<readonly StreamBatch[]> {
  await holdStreams(tx, runsOf(batches));
  return insert(tx, batches);
}

async function end(tx: Db, { tenant, runId, fence, rest, chars }: StreamEnding): Promise<boolean> {
  await holdStreams(tx, [{ tenant, runId }]);
  if ((await insert(tx, rest)).length > 0) return false;
  return (await change(tx, END, { tenant, runId, fence, chars })) > 0;
}

/** Each once, and always in one order: two processes that hold several must not wait for each other. */
function runsOf(batches: readonly StreamBatch[]): readonly StreamOf[] {
  const runs = new Map(batches.map((batch) => [`${batch.tenant} ${batch.runId}`, batch]));
  return [...runs].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, run]) => run);
}

/** Gives those whose attempt may not stream any more. */
async function insert(tx: Db, batches: readonly StreamBatch[]): Promise<readonly StreamBatch[]> {
  const changed = await changeEach(tx, INSERT, batches.map(valuesOf));
  return batches.filter((_, number) => changed[number] === 0);
}

function valuesOf({ entries, ...batch }: StreamBatch): Values {
  const { tenant, runId, fence, first, call, attempt, messageId } = batch;
  const placed = { tenant, runId, fence, first, count: entries.length };
  return { ...placed, call, attempt, messageId, entries: JSON.stringify(entries) };
}

/** Some of what has had its time; the rest when the next stream begins or ends. */
async function removeOld(db: Db, at: number): Promise<void> {
  const old = await rowsOf<Pick<StreamTable, 'tenant' | 'run_id' | 'fence'>>(db, REMOVABLE, { at });
  for (const { tenant, run_id: runId, fence } of old) {
    await change(db, CLEAR, { tenant, runId, fence: fence + 1 });
    // One that has begun again meanwhile keeps its time.
    await change(db, NOTE_REMOVED, { tenant, runId, at });
  }
}

/** Our own form of an attempt that was written when it began. */
function attemptIn(json: string): StreamedAttempt {
  return JSON.parse(json) as StreamedAttempt;
}

function namesOf({ tenant, runId, messageId }: StreamOpening) {
  return { tenant, runId, messageId };
}

export function batchOf(row: StreamChunkTable): StreamBatch {
  return {
    tenant: row.tenant,
    runId: row.run_id,
    fence: row.fence,
    first: row.first,
    call: row.call,
    attempt: row.attempt,
    messageId: row.message_id,
    // Our own form of entries that were typed when they came in.
    entries: JSON.parse(row.entries_json) as readonly StreamEntry[],
  };
}
