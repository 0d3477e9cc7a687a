/**
 * What the store's queries are written against, and the places where its two databases differ (`Dialect`).
 * Invariants: every commit is on disk when it returns, or when `settled` does where a database has `durability`; nothing becomes part of a transaction that another
 * caller opened; errors of a database leave as HoldfastErrors.
 * Queries whose text never changes and that every turn of a run makes go through `change` and `rowsOf`:
 * building a query costs several times what SQLite needs to run it.
 */
import { HoldfastError } from '../core/state/errors.js';
import type { Change, ChangeFeed, ChangeListener, RunName } from './changes.js';
import type { Kysely } from './query-builder.js';
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
  changeEach(db: Db, statement: string, rows: readonly Values[]): Promise<readonly number[]>;
  rowsOf(db: Db, statement: string, values: Values): Promise<readonly unknown[]>;
  immediate<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T>;
  snapshot<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T>;
  /** One after the other. */
  hold(tx: Db, ...whats: readonly (readonly string[])[]): Promise<void>;
  /** With others who only share it, and with nobody who holds it alone. */
  share(tx: Db, what: readonly string[]): Promise<void>;
  /** An expression of SQL: ms since epoch by the clock of the database. */
  readonly now: string;
  /** Until the transaction ends nobody else migrates. */
  holdSchema(tx: Db): Promise<void>;
  hasMigrations(db: Db): Promise<boolean>;
  /** A definition in this dialect's words. */
  define(definition: Definition): string;
}

/** Of a database whose commits are on disk later than they return. Errors of both: `StoreUnavailable`. */
export interface Durability {
  /** Throws where nothing that is written now could be told of any more. */
  refuse(): void;
  /** Resolves when everything that was written, or could have been read, is on disk. */
  settled(): Promise<void>;
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
  /**
   * An expression of SQL: a text that changes when the database is restored or promoted; null where it cannot tell.
   */
  readonly marks: string;
  /** Absent: what is committed is on disk when the commit returns. */
  readonly durability?: Durability;
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
export function change(db: Db, statement: string, values: Values): Promise<number> {
  return dialectOf(db).change(db, statement, values);
}

/** Runs a statement for each of many rows, in order, and gives how many each changed. */
export function changeEach(
  db: Db,
  statement: string,
  rows: readonly Values[],
): Promise<readonly number[]> {
  return dialectOf(db).changeEach(db, statement, rows);
}

/** Runs a statement and gives its rows. Whoever writes its text knows what `Row` they have. */
export function rowsOf<Row>(db: Db, statement: string, values: Values): Promise<readonly Row[]> {
  return dialectOf(db).rowsOf(db, statement, values) as Promise<readonly Row[]>;
}

/**
 * Runs `work` in a write transaction. `work` awaits nothing but the given connection, and may run again when
 * another process was in its way.
 */
export function immediate<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return dialectOf(db).immediate(db, async (tx) => {
    // What begins inside a transaction ends with it.
    if (lastSteps.has(tx)) return work(tx);
    const steps: LastStep[] = [];
    lastSteps.set(tx, steps);
    try {
      const value = await work(tx);
      for (const step of steps) await step();
      return value;
    } finally {
      lastSteps.delete(tx);
    }
  });
}

type LastStep = () => Promise<void>;
export type LastSteps = LastStep[];
const lastSteps = new WeakMap<Db, LastSteps>();

/** What the write transaction does before its commit, after everything else; in the order of the calls. */
export function atEnd(tx: Db, step: LastStep): void {
  lastStepsOf(tx).push(step);
}

/** Those of the open write transaction; each has its own. */
export function lastStepsOf(tx: Db): LastSteps {
  const steps = lastSteps.get(tx);
  if (steps === undefined) throw new HoldfastError('Internal', 'No transaction is open.');
  return steps;
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

/** The same for the streams of runs, which nothing else of a run waits for; in the order that is given. */
export function holdStreams(tx: Db, runs: readonly RunName[]): Promise<void> {
  return dialectOf(tx).hold(tx, ...runs.map(({ tenant, runId }) => ['stream', tenant, runId]));
}

/**
 * The same for the audit trail of a tenant: its rows are chained. Everybody who acts for the tenant wants it, so
 * it is the last thing that a transaction takes (`atEnd`). What comes before is taken in one order as well:
 * the run, the freezes, the effects of a tool.
 */
export function holdAudit(tx: Db, tenant: string): Promise<void> {
  return dialectOf(tx).hold(tx, ['audit', tenant]);
}

/** What one tool has done: whoever claims reads and reserves it in one go. */
export function holdEffects(tx: Db, tenant: string, tool: string): Promise<void> {
  return dialectOf(tx).hold(tx, ['effects', tenant, tool]);
}

/** What is known of the tools of one connector. */
export function holdConnector(tx: Db, tenant: string, connector: string): Promise<void> {
  return dialectOf(tx).hold(tx, ['connector', tenant, connector]);
}

/** Whoever claims shares the freezes of a tenant; whoever sets one waits for those who claim at the moment. */
export function holdFreezes(tx: Db, tenant: string, how: 'alone' | 'shared'): Promise<void> {
  const what = ['freezes', tenant];
  return how === 'alone' ? dialectOf(tx).hold(tx, what) : dialectOf(tx).share(tx, what);
}
