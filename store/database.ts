/**
 * What the store's queries are written against, and the places where its two databases differ (`Dialect`).
 * Invariants: every commit is on disk when it returns; nothing becomes part of a transaction that another
 * caller opened; errors of a database leave as HoldfastErrors.
 * Queries whose text never changes and that every turn of a run makes go through `change` and `rowsOf`:
 * building a query costs several times what SQLite needs to run it.
 */
import type { Kysely } from 'kysely';
import { HoldfastError } from '../core/errors.js';
import type { Change, ChangeFeed, ChangeListener, RunName } from './changes.js';
import type { Tables } from './schema.js';

export type Db = Kysely<Tables>;

/** What the `@names` of a statement stand for. */
export type Values = Readonly<Record<string, string | number | null | Uint8Array>>;

/** A statement of a migration; the index on long texts is not the same everywhere. */
export type Definition = string | Readonly<Record<Dialect['name'], string>>;

/** Everything that SQLite and PostgreSQL do not do the same way. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  change(db: Db, statement: string, values: Values): Promise<number>;
  rowsOf(db: Db, statement: string, values: Values): Promise<readonly unknown[]>;
  immediate<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T>;
  snapshot<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T>;
  hold(tx: Db, what: readonly string[]): Promise<void>;
  /** Until the transaction ends nobody else migrates. */
  holdSchema(tx: Db): Promise<void>;
  hasMigrations(db: Db): Promise<boolean>;
  /** A definition in this dialect's words. */
  define(definition: Definition): string;
}

export interface OpenDatabase {
  readonly db: Db;
  /** Where it is, for people: without secrets. */
  readonly place: string;
  /** The same for all that opened the same database in this process; undefined: nobody else can. */
  readonly identity: string | undefined;
  /**
   * The same database for writes that wait for nobody and that nobody waits for. A power cut may take the last
   * of them back.
   */
  openSide(): Pick<OpenDatabase, 'db' | 'close'>;
  /** Notices what other processes write. */
  feed(listener: ChangeListener): ChangeFeed;
  /** Lets other processes notice a change that is committed. Waits for nothing and never fails. */
  tell(change: Change): void;
  /** Idempotent; later calls fail with `StoreUnavailable`. */
  close(): Promise<void>;
}

const dialects = new WeakMap<Db, Dialect>();

export function speaks(db: Db, dialect: Dialect): Db {
  dialects.set(db, dialect);
  return db;
}

export function dialectOf(db: Db): Dialect {
  const dialect = dialects.get(db);
  if (dialect === undefined) throw new HoldfastError('Internal', 'This is no database of ours.');
  return dialect;
}

/** Runs a statement and gives how many rows it changed. */
export async function change(db: Db, statement: string, values: Values): Promise<number> {
  return dialectOf(db).change(db, statement, values);
}

/** Runs a statement and gives its rows. Whoever writes its text knows what `Row` they have. */
export async function rowsOf<Row>(
  db: Db,
  statement: string,
  values: Values,
): Promise<readonly Row[]> {
  return (await dialectOf(db).rowsOf(db, statement, values)) as readonly Row[];
}

/**
 * Runs `work` in a write transaction. `work` awaits nothing but the given connection, and may run again when
 * another process was in its way.
 */
export function immediate<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return dialectOf(db).immediate(db, work);
}

/** Runs several reads on one snapshot. `work` awaits nothing but the given connection. */
export function snapshot<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return dialectOf(db).snapshot(db, work);
}

/**
 * Until the transaction ends nobody else who calls this writes for the run: what is read of it afterwards
 * stays true. Call it before anything of the run is read.
 */
export function holdRun(tx: Db, { tenant, runId }: RunName): Promise<void> {
  return dialectOf(tx).hold(tx, ['run', tenant, runId]);
}

/** The same for the stream of a run, which nothing else of the run waits for. */
export function holdStream(tx: Db, { tenant, runId }: RunName): Promise<void> {
  return dialectOf(tx).hold(tx, ['stream', tenant, runId]);
}
