/**
 * The store: everything that outlives a run's Temporal history. SQLite in one file, for several processes
 * at once; the interface is asynchronous so that a cluster can use a server instead.
 * Invariants: what a method has written is on disk when it returns; every row belongs to a tenant; the
 * store knows no clock, times come as arguments.
 * Errors of every method: `StoreUnavailable` with a hint, and `InvalidRequest` for unusable identifiers.
 */
import { resolve } from 'node:path';
import { argumentsOf, type Arguments } from './arguments.js';
import { asks, type Asks } from './asks.js';
import { attempts, type Attempts } from './attempts.js';
import { blobs, type Blobs } from './blobs.js';
import { chainCache, type ChainCache } from './chain-cache.js';
import { changePoll } from './change-poll.js';
import {
  BUSY_WAIT_MS,
  immediate,
  IN_MEMORY,
  makeFolder,
  openDatabase,
  type Db,
  type OpenDatabase,
} from './database.js';
import { events, type Events } from './events.js';
import { withFileLock } from './file-lock.js';
import { histories, type Histories } from './histories.js';
import { ledger, type Ledger } from './ledger.js';
import { liveStreams, type LiveStreams } from './live-streams.js';
import { emptyTables, migrate, schemaVersion } from './migrations.js';
import { replies, type Replies } from './replies.js';
import { runs, type Runs } from './runs.js';
import { sessions, type Sessions } from './sessions.js';
import { busOf, streamBus } from './stream-bus.js';
import { streamOutbox, type StreamOutbox } from './stream-outbox.js';
import { streams, type Streams } from './streams.js';
import { transcripts, type Transcripts } from './transcripts.js';

/** What can be asked of the store, alone or as part of one transaction. */
export interface StoreCalls
  extends
    Blobs,
    Arguments,
    Transcripts,
    Events,
    Runs,
    Sessions,
    Asks,
    Ledger,
    Attempts,
    Replies,
    Histories,
    Streams {}

export interface Store extends StoreCalls {
  /** What models say at this moment. */
  readonly live: LiveStreams;
  /**
   * Several calls as one transaction: all of them are on disk when it returns, or none is. One commit is
   * what a durable write costs. `work` uses the given calls alone and awaits nothing else, because all
   * others wait for it. `step` says what it decides, for those who watch the store.
   */
  together<T>(work: (calls: StoreCalls) => Promise<T>, step?: TransactionStep): Promise<T>;
  /** Errors: `StoreUnavailable` when the store cannot be read. */
  health(): Promise<StoreHealth>;
  /** Nothing may be called afterwards; idempotent. */
  close(): Promise<void>;
}

/** A transaction that decides what happens once; its result says whether it was `claimed`. */
export interface TransactionStep {
  readonly step: 'claim';
  readonly runId: string;
  readonly key: string;
}

export interface StoreHealth {
  readonly file: string;
  readonly schemaVersion: number;
}

export interface StoreOptions {
  /** Path of the database; made with its folder when absent. IN_MEMORY keeps it in this process. */
  readonly file: string;
  /** How long a call may block for another process's transaction, in ms; default BUSY_WAIT_MS. */
  readonly busyWaitMs?: number;
}

/** Opens the store and brings its schema up to date. Errors: `StoreUnavailable`. */
export async function openStore(options: StoreOptions): Promise<Store> {
  return storeOn({ ...(await openMigrated(options)), cache: chainCache() }, options.file);
}

/** A store in memory that can be emptied: much faster than opening another one. */
export interface MemoryStore extends Store {
  /** Forgets every row. Nobody else may be using the store. */
  empty(): Promise<void>;
}

/** For tests and simulations. */
export async function openMemoryStore(): Promise<MemoryStore> {
  const { db, inside, close } = await openMigrated({ file: IN_MEMORY });
  const cache = chainCache();
  return {
    ...storeOn({ db, inside, close, cache }, IN_MEMORY),
    async empty() {
      cache.clear();
      await emptyTables(db);
    },
  };
}

/** Whoever holds the lock is asked again soon. */
const NO_WAIT_MS = 0;

interface Opened extends OpenDatabase {
  readonly cache: ChainCache;
}

function storeOn({ db, inside, close, cache }: Opened, file: string): Store {
  const callsInside = callsOn(inside, cache);
  const live = liveOn(db, file);
  return {
    ...callsOn(db, cache),
    together: (work) => immediate(db, () => work(callsInside)),
    health: async () => ({ file, schemaVersion: await schemaVersion(db) }),
    live,
    close: async () => {
      live.end();
      close();
    },
  };
}

/** Between processes the file is all that tells of changes. */
function liveOn(db: Db, file: string): LiveStreams & { end(): void } {
  const bus = file === IN_MEMORY ? streamBus() : busOf(resolve(file));
  const poll = changePoll(db, { wanted: bus.watched, changed: bus.wakeAll });
  const outbox = file === IN_MEMORY ? memoryOutbox(db) : fileOutbox(file);
  return {
    ...liveStreams({ bus, outbox, listen: poll.start }),
    end() {
      poll.stop();
      outbox.close();
    },
  };
}

function memoryOutbox(db: Db): StreamOutbox {
  return streamOutbox(streams(db).appendStreams);
}

/**
 * On a connection of its own: tokens wait for nobody's transaction, and nobody waits for the disk because of
 * them. Opened by the first of them.
 */
function fileOutbox(file: string): StreamOutbox {
  let side: OpenDatabase | undefined;
  const outbox = streamOutbox((batches) => {
    side ??= openDatabase(file, NO_WAIT_MS, 'lossy');
    return streams(side.db).appendStreams(batches);
  });
  return {
    ...outbox,
    close() {
      outbox.close();
      side?.close();
    },
  };
}

function callsOn(db: Db, cache: ChainCache): StoreCalls {
  return {
    ...blobs(db),
    ...argumentsOf(db),
    ...transcripts(db, cache),
    ...events(db),
    ...runs(db),
    ...sessions(db),
    ...asks(db),
    ...ledger(db),
    ...attempts(db),
    ...replies(db),
    ...histories(db),
    ...streams(db),
  };
}

async function openMigrated(options: StoreOptions): Promise<OpenDatabase> {
  if (options.file === IN_MEMORY) return open(options);
  makeFolder(options.file);
  // One process at a time: two that switch a new file to WAL at once would fail.
  return withFileLock(`${options.file}.lock`, () => open(options));
}

async function open({ file, busyWaitMs = BUSY_WAIT_MS }: StoreOptions): Promise<OpenDatabase> {
  const database = openDatabase(file, busyWaitMs);
  try {
    await migrate(database.db);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
