/**
 * One connection to a file of SQLite, and its two kinds of transaction.
 * Invariants: every commit is on disk when it returns (WAL, synchronous FULL), or when `settled` does (shared-sync.ts); a
 * write transaction takes the write lock at its start, so it never fails halfway because another process wrote.
 */
import { resolve } from 'node:path';
import Database from 'better-sqlite3';
import { HoldfastError } from '../../core/state/errors.js';
import { speaks, type Db, type Dialect, type OpenDatabase } from '../database.js';
import { Kysely, sql, SqliteDialect, type SqliteDatabase } from '../query-builder.js';
import { makeTables } from './beginning.js';
import { changePoll } from './change-poll.js';
import { withFileLock, type FileLock } from './file-lock.js';
import { presenceOf, type Presence } from './file-presence.js';
import {
  configure,
  createPrivately,
  makeFolderOf,
  refuseOthers,
  type Commits,
} from './file-setup.js';
import { keep } from './kept.js';
import { withStatementCache } from './prepared.js';
import { sharedSync, type SharedSync } from './shared-sync.js';
import { openFailure } from './sqlite-errors.js';

/** A file name that keeps the store in memory: for tests and simulations, one process only. */
export const IN_MEMORY = ':memory:';

/** How long a statement waits for another process's write transaction, in ms; the process blocks. */
const BUSY_WAIT_MS = 3_000;
/** How long to wait for another process that opens or migrates the store, in ms. */
const MIGRATION_WAIT_MS = 30_000;
/** Whoever writes tokens tries again soon. */
const NO_WAIT_MS = 0;
export interface SqliteOptions {
  /** Path of the database; made with its folder when absent. IN_MEMORY keeps it in this process. */
  readonly file: string;
  /** How long a call may block for another process's transaction, in ms; default BUSY_WAIT_MS. */
  readonly busyWaitMs?: number;
  /**
   * `each` (default): every commit is synced by itself, while the process stands still. `shared`: the calls of a moment
   * wait for one sync together, beside the process; for a disk whose syncs take milliseconds.
   */
  readonly sync?: 'each' | 'shared';
}

/** Opens or creates the file and brings its schema up to date. Errors: `StoreUnavailable`. */
export async function openSqlite(options: SqliteOptions): Promise<OpenDatabase> {
  if (options.file === IN_MEMORY) return openMigrated(options);
  refuseOthers(options.file);
  makeFolderOf(options.file);
  // One process at a time: two that switch a new file to WAL at once would fail.
  return withFileLock(migrationLock(`${options.file}.lock`), () => openMigrated(options));
}

function migrationLock(path: string): FileLock {
  return {
    path,
    waitMs: MIGRATION_WAIT_MS,
    tooLong: () =>
      new HoldfastError(
        'StoreUnavailable',
        'Another process has been opening or migrating this store for 30 seconds.',
        { hint: `End the process that holds ${path}, then start again.` },
      ),
  };
}

async function openMigrated(options: SqliteOptions): Promise<OpenDatabase> {
  const { file, busyWaitMs = BUSY_WAIT_MS } = options;
  const isShared = file !== IN_MEMORY;
  const sharesSync = isShared && options.sync === 'shared';
  const { db, close } = openFile(file, busyWaitMs, sharesSync ? 'settled' : 'durable');
  try {
    await makeTables(db, sessionOf(db).connection);
  } catch (error) {
    await close();
    throw error;
  }
  let sync: SharedSync | undefined;
  try {
    if (sharesSync) sync = sharedSync(file, () => versionOf(sessionOf(db)));
    await sync?.settled();
  } catch (error) {
    await sync?.close();
    await close();
    throw openFailure(error, file);
  }
  return {
    db,
    place: file,
    identity: isShared ? resolve(file) : undefined,
    openSide: () =>
      isShared ? openFile(file, NO_WAIT_MS, 'lossy') : { db, close: async () => undefined },
    feed: (listener) => changePoll(db, listener),
    // The file is all that tells of changes.
    tell: () => undefined,
    // A file does not know whether it was restored.
    marks: 'null',
    ...(sync && { durability: sync }),
    async close() {
      await sync?.close();
      await close();
    },
  };
}

interface OpenFile {
  readonly db: Db;
  close(): Promise<void>;
}

function openFile(file: string, busyWaitMs: number, commits: Commits = 'durable'): OpenFile {
  try {
    if (file !== IN_MEMORY) createPrivately(file);
    const connection = keep(new Database(file, { timeout: busyWaitMs }));
    try {
      configure(connection, commits);
    } catch (error) {
      connection.close();
      throw error;
    }
    // Not `db.destroy()`: that leaves a connection open that has not been used yet.
    const presence = file === IN_MEMORY ? () => undefined : presenceOf(file);
    return { db: onConnection(connection, presence), close: async () => void connection.close() };
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
  readonly presence: Presence;
  /** Transactions that this connection has committed. */
  readonly committed: { count: number };
}

const sessions = new WeakMap<Db, Session>();

const SQLITE: Dialect = {
  name: 'sqlite',
  now: `cast(unixepoch('subsec') * 1000 as integer)`,
  change: async (db, statement, values) =>
    whenFree(db, ({ prepare }) => Number(prepare(statement).run([values]).changes)),
  changeEach: async (db, statement, rows) =>
    whenFree(db, ({ prepare }) => {
      const prepared = prepare(statement);
      return rows.map((values) => Number(prepared.run([values]).changes));
    }),
  rowsOf: async (db, statement, values) =>
    whenFree(db, ({ prepare }) => prepare(statement).all([values])),
  immediate: (db, work) => transaction(db, 'begin immediate', work),
  snapshot: (db, work) => transaction(db, 'begin', work),
  // A write transaction holds the whole file.
  hold: async () => undefined,
  share: async () => undefined,
  holdSchema: async () => undefined,
  async hasMigrations(db) {
    const { rows } = await sql`
      select 1 from sqlite_master where type = 'table' and name = 'schema_migrations'`.execute(db);
    return rows.length > 0;
  },
  define: (definition) => (typeof definition === 'string' ? definition : definition.sqlite),
};

/** Two ways to one connection: Kysely makes the users of each wait for one another, not for the other's. */
function onConnection(connection: Database.Database, presence: Presence): Db {
  const statements = withStatementCache(connection);
  const guarded = whileOpen(connection, statements);
  const db: Db = new Kysely({ dialect: new SqliteDialect({ database: statements }) });
  const inside: Db = new Kysely({ dialect: new SqliteDialect({ database: guarded }) });
  const session = { connection, statements, inside, presence, committed: { count: 0 } };
  sessions.set(db, session);
  sessions.set(inside, { ...session, statements: guarded });
  speaks(inside, SQLITE);
  return speaks(db, SQLITE);
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

/** Now, or after a transaction that somebody else has open: it would be part of that one. */
function whenFree<T>(db: Db, run: (statements: SqliteDatabase) => T): T | Promise<T> {
  const { connection, statements, inside, presence } = sessionOf(db);
  // A transaction looks for the file at its end, whatever that is.
  if (db === inside) return run(statements);
  presence();
  if (!connection.inTransaction) return run(statements);
  return db.connection().execute(async () => run(statements));
}

function transaction<T>(db: Db, begin: string, work: (tx: Db) => Promise<T>): Promise<T> {
  const { connection, inside, statements, presence, committed } = sessionOf(db);
  // What begins inside a transaction becomes part of it.
  if (db === inside) return work(inside);
  return db.connection().execute(async () => {
    try {
      statements.prepare(begin).run([]);
      const value = await work(inside);
      presence();
      statements.prepare('commit').run([]);
      committed.count += 1;
      return value;
    } catch (error) {
      if (connection.inTransaction) rollBack(statements);
      // What a store refuses that is gone is no answer either.
      presence();
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

const CHANGES = 'select total_changes() as own, data_version as others from pragma_data_version';

/**
 * Another text after each commit to the file, whoever made it. What a transaction has changed that is still open counts
 * among `own`, so that its commit has to count by itself.
 */
function versionOf({ statements, committed }: Session): string {
  const [row] = statements.prepare(CHANGES).all([]) as readonly { own: number; others: number }[];
  return `${committed.count}:${row?.own}:${row?.others}`;
}

/** Deletes every row of every table but the list of migrations and the store's identity. */
export async function emptyTables(db: Db): Promise<void> {
  const rows = (await SQLITE.rowsOf(
    db,
    `select name from sqlite_master where type = 'table' and name not in ('schema_migrations', 'store_identity')`,
    {},
  )) as readonly { readonly name: string }[];
  // Without Kysely, which takes longer for a statement than SQLite for a table that has no rows.
  await SQLITE.immediate(db, async (tx) => {
    for (const { name } of rows) await SQLITE.change(tx, `delete from "${name}"`, {});
  });
}
