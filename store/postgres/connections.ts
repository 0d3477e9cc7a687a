/**
 * Connections to PostgreSQL: how many, how long they may take, what goes over them.
 * Invariants: every wait ends; statements of one connection run one after the other; a connection of which
 * it is not known what it does is closed, never used again; texts are coded (`text-codec`), integers are
 * numbers; commits wait for the disk.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, types, type ClientBase, type PoolClient, type QueryResult } from 'pg';
import { HoldfastError } from '../../core/state/errors.js';
import { isPassing, postgresFailure, sqlState } from './postgres-errors.js';
import { decodeText, encodeText } from './text-codec.js';

/** Longest wait for a connection, in ms: for the server, or for one that others use. */
const CONNECT_MS_MAX = 10_000;
/** A server that starts again refuses connections for a moment. */
const CONNECT_PAUSES_MS = [100, 200, 400, 800, 1_600] as const;
/** Longest statement, waiting for others included, in ms. */
const STATEMENT_MS_MAX = 30_000;
/** The server may be gone without a word: then nobody answers, not even that it took too long. */
const ANSWER_MS_MAX = STATEMENT_MS_MAX + 5_000;
/** Longest pause within a transaction, in ms: a process that is frozen keeps others waiting no longer. */
const PAUSE_MS_MAX = 15_000;
const IDLE_MS_MAX = 30_000;

const SESSION = `
  set statement_timeout = ${STATEMENT_MS_MAX};
  set idle_in_transaction_session_timeout = ${PAUSE_MS_MAX};
  select set_config('synchronous_commit', 'on', false)
    where current_setting('synchronous_commit') = 'off'`;

/** A connection while somebody has it. */
export interface Borrowed {
  run(text: string, parameters?: readonly unknown[]): Promise<QueryResult>;
  /** The first failure of a statement: PostgreSQL has given the transaction up with it. */
  readonly failure: HoldfastError | undefined;
  giveBack(): void;
}

export interface Connections {
  /** Errors: `StoreUnavailable`. */
  borrow(): Promise<Borrowed>;
  close(): Promise<void>;
}

export interface ConnectionsOptions {
  readonly url: string;
  readonly connectionsMax: number;
}

export function openConnections({ url, connectionsMax }: ConnectionsOptions): Connections {
  const pool = new Pool({
    connectionString: url,
    max: connectionsMax,
    fallback_application_name: 'holdfast',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    idleTimeoutMillis: IDLE_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    keepAlive: true,
    // As with a file: a store that somebody forgot to close keeps no process alive.
    allowExitOnIdle: true,
    types: { getTypeParser },
    // The pool waits for it, whatever its type says.
    onConnect: prepare as (client: ClientBase) => void,
  });
  // A server that goes away is noticed by idle connections too; who needs one gets another.
  pool.on('error', () => undefined);
  let closing: Promise<void> | undefined;
  return {
    async borrow() {
      if (closing !== undefined) throw closed();
      return borrowed(await connect(pool));
    },
    close: () => (closing ??= pool.end()),
  };
}

async function prepare(client: ClientBase): Promise<void> {
  await client.query(SESSION);
}

async function connect(pool: Pool): Promise<PoolClient> {
  for (const pauseMs of CONNECT_PAUSES_MS) {
    try {
      return await pool.connect();
    } catch (error) {
      if (!isPassing(error)) throw postgresFailure(error);
    }
    await sleep(pauseMs);
  }
  return pool.connect().catch((error: unknown) => {
    throw postgresFailure(error);
  });
}

function borrowed(client: PoolClient): Borrowed {
  let failure: HoldfastError | undefined;
  let isBroken = false;
  let last: Promise<unknown> = Promise.resolve();
  const noticeEnd = (): void => void (isBroken = true);
  client.on('error', noticeEnd);

  async function send(text: string, parameters: readonly unknown[]): Promise<QueryResult> {
    try {
      return await client.query(text, parameters.map(encoded));
    } catch (error) {
      // Not said by the server: the statement may still be running.
      if (sqlState(error) === undefined) isBroken = true;
      const translated = postgresFailure(error);
      failure ??= translated;
      throw translated;
    }
  }

  return {
    run(text, parameters = []) {
      const sent = last.then(() => send(text, parameters));
      last = sent.catch(() => undefined);
      return sent;
    },
    get failure() {
      return failure;
    },
    giveBack() {
      client.off('error', noticeEnd);
      client.release(isBroken);
    },
  };
}

function encoded(parameter: unknown): unknown {
  return typeof parameter === 'string' ? encodeText(parameter) : parameter;
}

type TypeParser = (value: string) => unknown;

const PARSERS: ReadonlyMap<number, TypeParser> = new Map<number, TypeParser>([
  // All integers are ours: times, counts and money that were safe integers when they came in.
  [types.builtins.INT8, Number],
  [types.builtins.TEXT, decodeText],
]);

function getTypeParser(oid: number, format?: 'text' | 'binary'): TypeParser {
  const parser = format === 'binary' ? undefined : PARSERS.get(oid);
  return parser ?? (types.getTypeParser(oid, format as 'text') as TypeParser);
}

function closed(): HoldfastError {
  return new HoldfastError('StoreUnavailable', 'The store has been closed.', {
    hint: 'Open the store again before using it.',
  });
}
