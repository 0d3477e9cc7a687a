/**
 * A database of PostgreSQL, and its two kinds of transaction.
 *
 * Many processes write at once here, and no transaction holds the whole store. What keeps the invariants:
 *  - Claims, records, sessions, replies and nodes are single statements that compare and set: the row's
 *    own lock decides who was first.
 *  - What takes several statements for one run (its line of events, its projection, the count of its
 *    attempts) holds the run (`holdRun`), and reads only afterwards. Isolation is READ COMMITTED, so that
 *    every statement sees what the one who held the run before has committed.
 *  - A transaction that still met another one (deadlock, or a key that somebody else wrote first) is
 *    done again from its beginning, a bounded number of times. So is one whose connection was lost before
 *    its commit was sent. After that nobody knows, and whoever asked is told `StoreUnavailable`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import {
  speaks,
  type Db,
  type Definition,
  type Dialect,
  type OpenDatabase,
  type Values,
} from '../database.js';
import { migrate } from '../migrations.js';
import { changeFeed, changeTeller } from './change-listener.js';
import { openConnections, type Borrowed, type Connections } from './connections.js';
import { kyselyOn, type Lent } from './kysely-on.js';
import { namedStatements } from './named-values.js';
import { isContended, isDisconnected } from './postgres-errors.js';
import { restoreMarks } from './restore-marks.js';
import { shownUrl } from './store-url.js';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Connections of this process; default CONNECTIONS_MAX. */
  readonly connectionsMax?: number;
}

export const CONNECTIONS_MAX = 10;
/** Most often that one transaction is done. */
const ATTEMPTS_MAX = 8;
const PAUSE_MS = { first: 5, last: 500 } as const;
const SERVER_VERSION_MIN = 120_000;

const BEGIN_WRITE = 'begin isolation level read committed read write';
const BEGIN_READ = 'begin isolation level repeatable read read only';

const LOSSY = 'set local synchronous_commit to off';

/** Opens the database and brings its schema up to date. Errors: `StoreUnavailable`, `InvalidConfig`. */
export async function openPostgres(options: PostgresOptions): Promise<OpenDatabase> {
  const { url, connectionsMax = CONNECTIONS_MAX } = options;
  const place = shownUrl(url);
  const connections = openConnections({ url, connectionsMax });
  const db = poolDb(connections);
  try {
    await checkServer(connections, place);
    await migrate(db);
    const marks = await marksOf(connections);
    return {
      db,
      place,
      identity: url,
      openSide: () => ({ db: poolDb(connections, 'lossy'), close: async () => undefined }),
      feed: (listener) => changeFeed(url, listener),
      tell: changeTeller(connections),
      marks,
      close: () => connections.close(),
    };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

const statements = namedStatements();
/** What lies under a Db: the one transaction that it is, or all connections. */
const sources = new WeakMap<Db, Source>();

interface Source {
  readonly connections: Connections;
  readonly durability: Durability;
  readonly within?: Borrowed;
}

/** `lossy`: a power cut may take back the last commits. Nothing else is less whole for it. */
type Durability = 'durable' | 'lossy';

function poolDb(connections: Connections, durability: Durability = 'durable'): Db {
  const db = kyselyOn({
    async lend(): Promise<Lent> {
      const one = await connections.borrow();
      // A statement alone is a transaction.
      return { ...one, run: (text, values) => again(isContended, () => one.run(text, values)) };
    },
  });
  sources.set(db, { connections, durability });
  return speaks(db, POSTGRES);
}

function transactionDb(source: Source, within: Borrowed): Db {
  const lent: Lent = { run: within.run, giveBack: () => undefined };
  const db = kyselyOn({ lend: async () => lent });
  sources.set(db, { ...source, within });
  return speaks(db, POSTGRES);
}

const POSTGRES: Dialect = {
  name: 'postgres',
  now: `cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
  change: async (db, statement, values) => (await run(db, statement, values)).rowCount ?? 0,
  async changeEach(db, statement, rows) {
    const changed: number[] = [];
    for (const values of rows) changed.push((await run(db, statement, values)).rowCount ?? 0);
    return changed;
  },
  rowsOf: async (db, statement, values) => (await run(db, statement, values)).rows as unknown[],
  immediate: (db, work) => transaction(db, BEGIN_WRITE, work),
  snapshot: (db, work) => transaction(db, BEGIN_READ, work),
  async hold(tx, ...whats) {
    for (const what of whats) await run(tx, HOLD, { what: JSON.stringify(what) });
  },
  async share(tx, what) {
    await run(tx, SHARE, { what: JSON.stringify(what) });
  },
  async holdSchema(tx) {
    // However long the others take, and the migration itself.
    await run(tx, 'set local statement_timeout = 0', {});
    await run(tx, HOLD, { what: 'schema' });
  },
  async hasMigrations(db) {
    // Not to_regclass: what that remembers may be older than a lock that was waited for.
    return (await run(db, HAS_MIGRATIONS, {})).rows.length > 0;
  },
  define,
};

const HAS_MIGRATIONS = `
  select 1 from pg_catalog.pg_tables
  where tablename = 'schema_migrations' and schemaname = any (current_schemas(false))`;

/** Locks have no schema of their own, and a database may have a store in each of several. */
const HOLD = `
  select pg_advisory_xact_lock(hashtextextended(concat(current_schema(), ' holdfast ', @what::text), 0))`;

const SHARE = HOLD.replace('pg_advisory_xact_lock', 'pg_advisory_xact_lock_shared');

/** Order and equality of texts are those of their bytes, as in SQLite. */
function define(definition: Definition): string {
  const text = typeof definition === 'string' ? definition : definition.postgres;
  return text
    .replace(/\binteger\b/g, 'bigint')
    .replace(/\bblob\b/g, 'bytea')
    .replace(/\btext\b/g, 'text collate "C"');
}

async function run(db: Db, statement: string, named: Values) {
  const { connections, within } = sourceOf(db);
  const { text, values } = statements.bind(statement, named);
  if (within !== undefined) return within.run(text, values);
  const one = await connections.borrow();
  try {
    return await again(isContended, () => one.run(text, values));
  } finally {
    one.giveBack();
  }
}

function sourceOf(db: Db) {
  const source = sources.get(db);
  if (source === undefined) throw new HoldfastError('Internal', 'This is no database of ours.');
  return source;
}

function transaction<T>(db: Db, begin: string, work: (tx: Db) => Promise<T>): Promise<T> {
  const source = sourceOf(db);
  // What begins inside a transaction becomes part of it.
  if (source.within !== undefined) return work(db);
  return again(
    (error) => isContended(error) || (isDisconnected(error) && !isUnknown(error)),
    () => once(source, begin, work),
  );
}

async function once<T>(source: Source, begin: string, work: (tx: Db) => Promise<T>): Promise<T> {
  const one = await source.connections.borrow();
  try {
    await one.run(source.durability === 'lossy' ? `${begin}; ${LOSSY}` : begin);
    const value = await work(transactionDb(source, one));
    // Whatever `work` made of it: a statement that failed has taken all others with it.
    if (one.failure !== undefined) throw one.failure;
    await commit(one);
    return value;
  } catch (error) {
    if (one.failure === undefined || !isDisconnected(one.failure)) await rollBack(one);
    throw isUnknown(error) ? error : (one.failure ?? error);
  } finally {
    one.giveBack();
  }
}

/** Failures of commits that may have succeeded. */
const unknown = new WeakSet<object>();

function isUnknown(error: unknown): boolean {
  return typeof error === 'object' && error !== null && unknown.has(error);
}

async function commit(one: Borrowed): Promise<void> {
  try {
    await one.run('commit');
  } catch (error) {
    if (isDisconnected(error)) unknown.add(error as object);
    throw error;
  }
}

async function rollBack(one: Borrowed): Promise<void> {
  // The server does it by itself when the connection is gone.
  await one.run('rollback').catch(() => undefined);
}

/** Does it again while that is worth it. */
async function again<T>(
  isWorthIt: (error: unknown) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isWorthIt(error)) throw error;
    }
    // Those who met must not meet again.
    await sleep(Math.random() * Math.min(PAUSE_MS.first * 2 ** attempt, PAUSE_MS.last));
  }
  return work();
}

const SERVER = `select current_setting('server_version_num')::int as version,
  current_setting('server_encoding') as encoding`;

async function checkServer(connections: Connections, place: string): Promise<void> {
  const one = await connections.borrow();
  try {
    const { rows } = await one.run(SERVER);
    const { version, encoding } = rows[0] as {
      readonly version: number;
      readonly encoding: string;
    };
    if (version < SERVER_VERSION_MIN) {
      throw unfit(
        `${place} is PostgreSQL ${Math.floor(version / 10_000)}.`,
        'Use version 12 or newer.',
      );
    }
    if (encoding !== 'UTF8') {
      const hint = `Create the database with: create database … encoding 'UTF8' template template0`;
      throw unfit(`The database ${place} has the encoding ${encoding}.`, hint);
    }
  } finally {
    one.giveBack();
  }
}

async function marksOf(connections: Connections): Promise<string> {
  const one = await connections.borrow();
  try {
    return await restoreMarks(one);
  } finally {
    one.giveBack();
  }
}

function unfit(message: string, hint: string): HoldfastError {
  return new HoldfastError('StoreUnavailable', message, { hint });
}
