/**
 * One connection to the store's file, and its two kinds of transaction.
 * Invariants: every commit is on disk when it returns (WAL, synchronous FULL); a write transaction takes
 * the write lock at its start, so it never fails halfway because another process wrote; errors of
 * SQLite leave as HoldfastErrors; nothing becomes part of a transaction that another caller opened.
 * Queries whose text never changes and that every turn of a run makes go through `change` and `rowsOf`:
 * building a query costs several times what SQLite needs to run it.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect, type SqliteDatabase } from 'kysely';
import { HoldfastError } from '../core/errors.js';
import { openFailure } from './database-errors.js';
import { withStatementCache } from './prepared.js';
import type { Tables } from './schema.js';

export type Db = Kysely<Tables>;

export interface OpenDatabase {
  readonly db: Db;
  /** What `work` gets within every transaction. */
  readonly inside: Db;
  /** Idempotent; later calls fail with `StoreUnavailable`. */
  close(): void;
}

/** A file name that keeps the store in memory: for tests and simulations, one process only. */
export const IN_MEMORY = ':memory:';

/** How long a statement waits for another process's write transaction, in ms; the process blocks. */
export const BUSY_WAIT_MS = 3_000;
/**
 * Pages (of 4 KiB) in the write-ahead log before it is copied into the file. A copy costs many commits, but
 * until the first one every commit makes the log longer, which takes twice as long as writing over it.
 */
const CHECKPOINT_PAGES = 1_000;
/** The same for a connection that writes much and waits for nobody: a copy would hold up its process. */
const LOSSY_CHECKPOINT_PAGES = 10_000;
/** The write-ahead log is cut back to this size at checkpoints. */
const JOURNAL_BYTES_MAX = 64 * 1024 * 1024;

/** `lossy`: a power cut may take back the last commits. The file stays whole, and durable commits durable. */
export type Durability = 'durable' | 'lossy';

/** Opens or creates the file. Errors: `StoreUnavailable`. The caller holds the file lock. */
export function openDatabase(
  file: string,
  busyWaitMs: number,
  durability: Durability = 'durable',
): OpenDatabase {
  try {
    if (file !== IN_MEMORY) createPrivately(file);
    const connection = new Database(file, { timeout: busyWaitMs });
    try {
      configure(connection, durability);
    } catch (error) {
      connection.close();
      throw error;
    }
    // Not `db.destroy()`: that leaves a connection open that has not been used yet.
    return { ...onConnection(connection), close: () => connection.close() };
  } catch (error) {
    throw openFailure(error, file);
  }
}

/** What lies under a Db. */
interface Session {
  readonly connection: Database.Database;
  readonly statements: SqliteDatabase;
  /** The Db of whoever holds the transaction. Every other one waits for its end. */
  readonly inside: Db;
}

const sessions = new WeakMap<Db, Session>();

/** Two ways to one connection: Kysely makes the users of each wait for one another, not for the other's. */
function onConnection(connection: Database.Database): { readonly db: Db; readonly inside: Db } {
  const statements = withStatementCache(connection);
  const guarded = whileOpen(connection, statements);
  const db: Db = new Kysely({ dialect: new SqliteDialect({ database: statements }) });
  const inside: Db = new Kysely({ dialect: new SqliteDialect({ database: guarded }) });
  sessions.set(db, { connection, statements, inside });
  sessions.set(inside, { connection, statements: guarded, inside });
  return { db, inside };
}

/** SQLite ends a transaction by itself when the disk is full: what follows must not be on disk alone. */
function whileOpen(connection: Database.Database, statements: SqliteDatabase): SqliteDatabase {
  return {
    close: statements.close,
    prepare(text) {
      if (connection.inTransaction) return statements.prepare(text);
      throw new HoldfastError('StoreUnavailable', 'The transaction has ended before its work.', {
        hint: 'Check that the disk that holds the store is not full, then retry.',
      });
    },
  };
}

function sessionOf(db: Db): Session {
  const session = sessions.get(db);
  if (session === undefined) throw new HoldfastError('Internal', 'This is no database of ours.');
  return session;
}

/** What the `@names` of a statement stand for. */
export type Values = Readonly<Record<string, string | number | null | Uint8Array>>;

/** Runs a statement and gives how many rows it changed. */
export async function change(db: Db, statement: string, values: Values): Promise<number> {
  return whenFree(db, ({ prepare }) => Number(prepare(statement).run([values]).changes));
}

/** Runs a statement and gives its rows. Whoever writes its text knows what `Row` they have. */
export async function rowsOf<Row>(
  db: Db,
  statement: string,
  values: Values,
): Promise<readonly Row[]> {
  return whenFree(db, ({ prepare }) => prepare(statement).all([values]) as Row[]);
}

/** Now, or after a transaction that somebody else has open: it would be part of that one. */
function whenFree<T>(db: Db, run: (statements: SqliteDatabase) => T): T | Promise<T> {
  const { connection, statements, inside } = sessionOf(db);
  if (db === inside || !connection.inTransaction) return run(statements);
  return db.connection().execute(async () => run(statements));
}

/** Runs `work` in a write transaction. `work` awaits nothing but the given connection. */
export function immediate<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return transaction(db, 'begin immediate', work);
}

/** Runs several reads on one snapshot. `work` awaits nothing but the given connection. */
export function snapshot<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return transaction(db, 'begin', work);
}

function transaction<T>(db: Db, begin: string, work: (tx: Db) => Promise<T>): Promise<T> {
  const { inside, statements } = sessionOf(db);
  // What begins inside a transaction becomes part of it.
  if (db === inside) return work(inside);
  return db.connection().execute(async () => {
    statements.prepare(begin).run([]);
    try {
      const value = await work(inside);
      statements.prepare('commit').run([]);
      return value;
    } catch (error) {
      rollBack(statements);
      throw error;
    }
  });
}

function rollBack(statements: SqliteDatabase): void {
  try {
    statements.prepare('rollback').run([]);
  } catch {
    // SQLite has already rolled back by itself (disk full, I/O error); the first error tells why.
  }
}

/** The folder of a store's file, for this user only when it is new. Errors: `StoreUnavailable`. */
export function makeFolder(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw openFailure(error, file);
  }
}

function createPrivately(file: string): void {
  // Conversations are nobody else's business; SQLite gives its side files the mode of this one.
  closeSync(openSync(file, 'a', 0o600));
}

function configure(connection: Database.Database, durability: Durability): void {
  connection.pragma('journal_mode = wal');
  connection.pragma(`synchronous = ${durability === 'lossy' ? 'normal' : 'full'}`);
  connection.pragma('fullfsync = on');
  connection.pragma('foreign_keys = off');
  const pages = durability === 'lossy' ? LOSSY_CHECKPOINT_PAGES : CHECKPOINT_PAGES;
  connection.pragma(`wal_autocheckpoint = ${pages}`);
  connection.pragma(`journal_size_limit = ${JOURNAL_BYTES_MAX}`);
}
