/**
 * The store: everything that outlives a run's Temporal history. SQLite in one file, for several processes
 * at once; the interface is asynchronous so that a cluster can use a server instead.
 * Invariants: what a method has written is on disk when it returns; every row belongs to a tenant; the
 * store knows no clock, times come as arguments.
 * Errors of every method: `StoreUnavailable` with a hint, and `InvalidRequest` for unusable identifiers.
 */
import { argumentsOf, type Arguments } from './arguments.js';
import { asks, type Asks } from './asks.js';
import { attempts, type Attempts } from './attempts.js';
import { blobs, type Blobs } from './blobs.js';
import { IN_MEMORY, makeFolder, openDatabase, type Db } from './database.js';
import { events, type Events } from './events.js';
import { withFileLock } from './file-lock.js';
import { histories, type Histories } from './histories.js';
import { ledger, type Ledger } from './ledger.js';
import { migrate, schemaVersion } from './migrations.js';
import { replies, type Replies } from './replies.js';
import { runs, type Runs } from './runs.js';
import { transcripts, type Transcripts } from './transcripts.js';

export interface Store
  extends Blobs, Arguments, Transcripts, Events, Runs, Asks, Ledger, Attempts, Replies, Histories {
  /** Errors: `StoreUnavailable` when the store cannot be read. */
  health(): Promise<StoreHealth>;
  /** Nothing may be called afterwards; idempotent. */
  close(): Promise<void>;
}

export interface StoreHealth {
  readonly file: string;
  readonly schemaVersion: number;
}

export interface StoreOptions {
  /** Path of the database; made with its folder when absent. IN_MEMORY keeps it in this process. */
  readonly file: string;
}

/** Opens the store and brings its schema up to date. Errors: `StoreUnavailable`. */
export async function openStore({ file }: StoreOptions): Promise<Store> {
  const db = await openMigrated(file);
  return {
    ...blobs(db),
    ...argumentsOf(db),
    ...transcripts(db),
    ...events(db),
    ...runs(db),
    ...asks(db),
    ...ledger(db),
    ...attempts(db),
    ...replies(db),
    ...histories(db),
    health: async () => ({ file, schemaVersion: await schemaVersion(db) }),
    close: () => db.destroy(),
  };
}

async function openMigrated(file: string): Promise<Db> {
  if (file === IN_MEMORY) return open(file);
  makeFolder(file);
  // One process at a time: two that switch a new file to WAL at once would fail.
  return withFileLock(`${file}.lock`, () => open(file));
}

async function open(file: string): Promise<Db> {
  const db = openDatabase(file);
  try {
    await migrate(db);
    return db;
  } catch (error) {
    await db.destroy();
    throw error;
  }
}
