/**
 * One connection to the store's file, and its two kinds of transaction.
 * Invariants: every commit is on disk when it returns (WAL, synchronous FULL); a write transaction takes
 * the write lock at its start, so it never fails halfway because another process wrote; errors of
 * SQLite leave as HoldfastErrors. Kysely gives the connection to one caller at a time.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { databaseFailure, openFailure } from './database-errors.js';
import type { Tables } from './schema.js';

export type Db = Kysely<Tables>;

export interface OpenDatabase {
  readonly db: Db;
  /** Idempotent; later calls fail with `StoreUnavailable`. */
  close(): void;
}

/** A file name that keeps the store in memory: for tests and simulations, one process only. */
export const IN_MEMORY = ':memory:';

/** How long a statement waits for another process's write transaction, in ms; the process blocks. */
export const BUSY_WAIT_MS = 10_000;
/** Prepared statements kept; the shapes of our queries are fewer, but inserts vary in their rows. */
const STATEMENTS_MAX = 200;
/** The write-ahead log is cut back to this size at checkpoints. */
const JOURNAL_BYTES_MAX = 64 * 1024 * 1024;

/** Opens or creates the file. Errors: `StoreUnavailable`. The caller holds the file lock. */
export function openDatabase(file: string, busyWaitMs: number): OpenDatabase {
  try {
    if (file !== IN_MEMORY) createPrivately(file);
    const connection = new Database(file, { timeout: busyWaitMs });
    try {
      configure(connection);
    } catch (error) {
      connection.close();
      throw error;
    }
    const db = new Kysely<Tables>({
      dialect: new SqliteDialect({ database: withStatementCache(connection) }),
    });
    // Not `db.destroy()`: that leaves a connection open that has not been used yet.
    return { db, close: () => connection.close() };
  } catch (error) {
    throw openFailure(error, file);
  }
}

/** Runs `work` in a write transaction. `work` awaits nothing but the given connection. */
export function immediate<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return transaction(db, 'begin immediate', work);
}

/** Runs several reads on one snapshot. `work` awaits nothing but the given connection. */
export function snapshot<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return transaction(db, 'begin', work);
}

/** Connections with a transaction under way: what begins inside one becomes part of it. */
const inTransaction = new WeakSet<Db>();

function transaction<T>(db: Db, begin: string, work: (tx: Db) => Promise<T>): Promise<T> {
  if (inTransaction.has(db)) return work(db);
  return db.connection().execute(async (tx) => {
    await sql.raw(begin).execute(tx);
    inTransaction.add(tx);
    try {
      const value = await work(tx);
      await sql.raw('commit').execute(tx);
      return value;
    } catch (error) {
      await rollBack(tx);
      throw error;
    }
  });
}

async function rollBack(tx: Db): Promise<void> {
  try {
    await sql.raw('rollback').execute(tx);
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

function configure(connection: Database.Database): void {
  connection.pragma('journal_mode = wal');
  connection.pragma('synchronous = full');
  connection.pragma('fullfsync = on');
  connection.pragma('foreign_keys = off');
  connection.pragma(`journal_size_limit = ${JOURNAL_BYTES_MAX}`);
}

/** Kysely prepares each query anew; this keeps recently used statements and translates errors. */
function withStatementCache(connection: Database.Database): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => connection.close(),
    prepare(text) {
      const statement = statements.get(text) ?? translated(connection, text);
      statements.delete(text);
      statements.set(text, statement);
      const oldest = statements.keys().next();
      if (statements.size > STATEMENTS_MAX && !oldest.done) statements.delete(oldest.value);
      return statement;
    },
  };
}

function translated(connection: Database.Database, text: string): SqliteStatement {
  const statement = attempt(() => connection.prepare<unknown[]>(text));
  return {
    reader: statement.reader,
    all: (parameters) => attempt(() => statement.all(...parameters)),
    run: (parameters) => attempt(() => statement.run(...parameters)),
    iterate: (parameters) => attempt(() => statement.iterate(...parameters)),
  };
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw databaseFailure(error);
  }
}
