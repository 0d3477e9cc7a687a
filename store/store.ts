/**
 * The store: everything that outlives a run's Temporal history. SQLite in one file, for the processes of one
 * machine, or a database of PostgreSQL, for those of many.
 * Invariants: what a method has written is on disk when it returns, and so is what it has read from a file whose syncs
 * are shared; every row belongs to a tenant; the store knows no clock, times come as arguments, except for which workers
 * are alive (served.ts).
 * Errors of every method: `StoreUnavailable` with a hint, and `InvalidRequest` for unusable identifiers.
 */
import { HoldfastError } from '../core/state/errors.js';
import { archivals, type Archivals } from './archivals.js';
import { argumentsOf, type Arguments } from './arguments.js';
import { asks, type Asks } from './asks.js';
import { attempts, type Attempts } from './attempts.js';
import { routeCosts, type RouteCosts } from './route-costs.js';
import { audit, type Audit } from './audit.js';
import { blobs, type Blobs } from './blobs.js';
import { callsBeforeReset, type CallsBeforeReset } from './calls-before-reset.js';
import { forks, type Forks } from './forks.js';
import { chainCache, type ChainCache } from './chain-cache.js';
import { children, type Children } from './children.js';
import { connectorTokens, type ConnectorTokens } from './connector-tokens.js';
import { connectorTools, type ConnectorTools } from './connector-tools.js';
import { mail, type Mail } from './mail.js';
import type { ChangeWatch, RunName } from './changes.js';
import { immediate, type Db, type Durability, type OpenDatabase } from './database.js';
import { deskKeys, type DeskKeys } from './desk-keys.js';
import { deskRequests, type DeskRequests } from './desk-requests.js';
import { effects, type Effects } from './effects.js';
import { events, type Events } from './events.js';
import { freezes, type Freezes } from './freezes.js';
import { goalEffects, type GoalEffects } from './goal-effects.js';
import { histories, type Histories } from './histories.js';
import { identity, nameStore, type Identity } from './identity.js';
import { ledger, type Ledger } from './ledger.js';
import { liveOn, type LiveStreams } from './live.js';
import { schemaVersion } from './migrations.js';
import { isStoreUrl, refuseUnknownPlace } from './place.js';
import { checkStore } from './store-options.js';
import type { PostgresOptions } from './postgres/postgres-database.js';
import { needs, type Needs } from './needs.js';
import { notices, type Notices } from './notices.js';
import { orphans, type Orphans } from './orphans.js';
import { proposals, type Proposals } from './proposals.js';
import { replies, type Replies } from './replies.js';
import { runs, type Runs } from './runs.js';
import {
  emptyTables,
  IN_MEMORY,
  openSqlite,
  type SqliteOptions,
} from './sqlite/sqlite-database.js';
import { served, type Served } from './served.js';
import { sessions, type Sessions } from './sessions.js';
import { streamPlaces, type StreamPlaces } from './stream-places.js';
import { streams, type Streams } from './streams.js';
import { transcripts, type Transcripts } from './transcripts.js';
import { userMessages, type UserMessages } from './user-messages.js';
import { workFolders, type WorkFolders } from './work-folders.js';

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
    Effects,
    CallsBeforeReset,
    Forks,
    Freezes,
    Attempts,
    RouteCosts,
    Replies,
    Histories,
    Archivals,
    Streams,
    StreamPlaces,
    Audit,
    DeskKeys,
    DeskRequests,
    Notices,
    Identity,
    Served,
    Needs,
    Children,
    Orphans,
    Mail,
    UserMessages,
    Proposals,
    GoalEffects,
    WorkFolders,
    ConnectorTools,
    ConnectorTokens {}

/** Where runs are kept beside Temporal: events, effects, questions, conversations. Made by `openStore`. */
export interface Store extends StoreCalls {
  /** What models say at this moment. */
  readonly live: LiveStreams;
  /** For a reader of a run's events, who stops it: whatever is appended after this call wakes it. */
  watchEvents(run: RunName): ChangeWatch;
  /**
   * Several calls as one transaction: all of them are on disk when it returns, or none is. One commit is
   * what a durable write costs. `work` uses the given calls alone and awaits nothing else, because others
   * wait for it, and bears being called again: a transaction that another process was in the way of is
   * undone and begins anew. `step` says what it decides, for those who watch the store.
   */
  together<T>(work: (calls: StoreCalls) => Promise<T>, step?: TransactionStep): Promise<T>;
  /** Errors: `StoreUnavailable` when the store cannot be read. */
  health(): Promise<StoreHealth>;
  /** Nothing may be called afterwards; idempotent. */
  close(): Promise<void>;
}

/**
 * A transaction that decides what happens once. The result of a claim says whether it was `claimed`, that of
 * a record is whether it was taken.
 */
export interface TransactionStep {
  readonly step: 'claim' | 'record';
  readonly runId: string;
}

export interface StoreHealth {
  /** The file, or the address of the database without its secrets. */
  readonly place: string;
  readonly schemaVersion: number;
}

/** A file of SQLite or an address of PostgreSQL. */
export type StoreOptions = SqliteOptions | PostgresOptions;

/** Opens the store and brings its schema up to date. Errors: `StoreUnavailable`, `InvalidConfig`. */
export async function openStore(options: StoreOptions): Promise<Store> {
  return storeOn(await openDatabase(options), chainCache());
}

/** How a store in a file gets its commits to the disk. */
export type StoreSync = NonNullable<SqliteOptions['sync']>;

/** The same by one text, as settings have it: the path of a file, or a URL `postgres://…`. */
export async function openStoreAt(place: string, sync: StoreSync = 'each'): Promise<Store> {
  refuseUnknownPlace(place);
  return openStore(isStoreUrl(place) ? { url: place, sync } : { file: place, sync });
}

/** Also of callers without types. */
function checkSync({
  url,
  sync = 'each',
}: {
  readonly url?: string;
  readonly sync?: unknown;
}): void {
  if (sync !== 'each' && sync !== 'shared') {
    throw new HoldfastError(
      'InvalidConfig',
      `The syncs of a store cannot be ${String(sync).slice(0, 40)}.`,
      {
        hint: "Give 'each' or 'shared', or nothing.",
      },
    );
  }
  if (url === undefined || sync === 'each') return;
  throw new HoldfastError('InvalidConfig', 'A store in PostgreSQL has no setting for its syncs.', {
    hint: 'Unset HOLDFAST_STORE_SYNC, or leave the option out: PostgreSQL shares the syncs of a moment by itself.',
  });
}

async function openDatabase(options: StoreOptions): Promise<OpenDatabase> {
  checkStore(options);
  checkSync(options);
  if ('file' in options && options.file !== undefined) return openSqlite(options as SqliteOptions);
  // Loaded when it is used: most stores are files.
  const { openPostgres } = await import('./postgres/postgres-database.js');
  return openPostgres(options as PostgresOptions);
}

/** A store in memory that can be emptied: much faster than opening another one. */
export interface MemoryStore extends Store {
  /** Forgets every row. Nobody else may be using the store. */
  empty(): Promise<void>;
}

/** For tests and simulations. `id`: its identity; default: one that no other store has. */
export async function openMemoryStore(id?: string): Promise<MemoryStore> {
  const database = await openSqlite({ file: IN_MEMORY });
  if (id !== undefined) await nameStore(database.db, id);
  const cache = chainCache();
  return {
    ...storeOn(database, cache),
    async empty() {
      cache.clear();
      await emptyTables(database.db);
    },
  };
}

function storeOn(database: OpenDatabase, cache: ChainCache): Store {
  const { db, place, marks, close } = database;
  const sources = { cache, marks };
  // SQLite has one Db for all its transactions, PostgreSQL one for each.
  const inside = new WeakMap<Db, Inside>();
  const callsInside = (tx: Db): Inside => {
    const known = inside.get(tx) ?? newInside(callsOn(tx, sources));
    inside.set(tx, known);
    return known;
  };
  const { live, events: appended, end } = liveOn(database);
  const { durability } = database;
  const calls = callsOn(db, sources);
  return {
    ...telling(durability === undefined ? calls : settling(calls, durability), appended.announce),
    async together(work) {
      durability?.refuse();
      let changed: readonly RunName[] = [];
      const committed = immediate(db, async (tx) => {
        const { calls, tellTo } = callsInside(tx);
        changed = tellTo();
        return work(calls);
      });
      const value = await (durability === undefined ? committed : told(committed, durability));
      for (const run of changed) appended.announce(run);
      return value;
    },
    async health() {
      durability?.refuse();
      return { place, schemaVersion: await schemaVersion(db) };
    },
    live,
    watchEvents: appended.watch,
    close: async () => {
      await end();
      await close();
    },
  };
}

/** The calls inside of a transaction; one that uses the same Db comes after its end. */
interface Inside {
  readonly calls: StoreCalls;
  /** A list of the runs of which the transaction that begins now appends events. */
  tellTo(): readonly RunName[];
}

function newInside(plain: StoreCalls): Inside {
  let changed: RunName[] = [];
  return {
    calls: telling(plain, (run) => changed.push(run)),
    tellTo: () => (changed = []),
  };
}

function telling(calls: StoreCalls, appended: (run: RunName) => void): StoreCalls {
  return {
    ...calls,
    async appendEvents(source, batch) {
      const storedUpTo = await calls.appendEvents(source, batch);
      if (batch.length > 0) appended(source);
      return storedUpTo;
    },
  };
}

type Call = (...given: never[]) => Promise<unknown>;

/** The same calls, each of which is over when what it has written or read is on disk, whether it succeeds or not. */
function settling(calls: StoreCalls, durability: Durability): StoreCalls {
  const each: { readonly [name in keyof StoreCalls]: Call } = calls;
  const settles = Object.entries(each).map(([name, call]) => {
    const whole: Call = async (...given) => {
      durability.refuse();
      return told(call(...given), durability);
    };
    return [name, whole];
  });
  return Object.fromEntries(settles) as StoreCalls;
}

/** What the work comes to, when what it has written or read is on disk. */
async function told<T>(work: Promise<T>, { settled }: Durability): Promise<T> {
  try {
    return await work;
  } finally {
    await settled();
  }
}

interface Sources {
  readonly cache: ChainCache;
  /** As `OpenDatabase` has them. */
  readonly marks: string;
}

function callsOn(db: Db, { cache, marks }: Sources): StoreCalls {
  return {
    ...blobs(db),
    ...argumentsOf(db),
    ...transcripts(db, cache),
    ...events(db),
    ...runs(db),
    ...sessions(db),
    ...asks(db),
    ...ledger(db),
    ...effects(db),
    ...callsBeforeReset(db),
    ...forks(db),
    ...freezes(db),
    ...attempts(db),
    ...routeCosts(db),
    ...replies(db),
    ...histories(db),
    ...archivals(db),
    ...streams(db),
    ...streamPlaces(db),
    ...audit(db),
    ...deskKeys(db),
    ...deskRequests(db),
    ...notices(db),
    ...identity(db, marks),
    ...served(db),
    ...needs(db),
    ...children(db),
    ...orphans(db),
    ...mail(db),
    ...userMessages(db),
    ...proposals(db),
    ...goalEffects(db),
    ...workFolders(db),
    ...connectorTools(db),
    ...connectorTokens(db),
  };
}
