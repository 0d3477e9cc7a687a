/**
 * Changes between processes, by NOTIFY and LISTEN.
 * Invariants: telling is no part of the transaction that made the change, which would make all commits of
 * the database wait for one another; nobody waits for a change to be told. A listening connection that is
 * lost is replaced for as long as somebody wants to know; meanwhile readers look by themselves.
 */
import { Client } from 'pg';
import type { Change, ChangeFeed, ChangeKind, ChangeListener } from '../changes.js';
import type { Connections } from './connections.js';

/** How long changes wait for others, to be told together, in ms. */
const GATHER_MS = 2;
/** Changes that wait; more of them are told as "something has changed". */
const WAITING_MAX = 500;
/** PostgreSQL's own limit is 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_900;
const ANYTHING = '';

/** Channels have no schema of their own. */
const CHANNEL = `'holdfast_' || md5(coalesce(current_schema(), ''))`;

// Nobody loses anything with these: they need not wait for the disk.
const NOTIFY = `
  select set_config('synchronous_commit', 'off', true),
    (select count(pg_notify(${CHANNEL}, payload)) from json_array_elements_text($1::json) payload)`;

/** Tells of changes, of many with one statement. */
export function changeTeller(connections: Connections): (change: Change) => void {
  let waiting = new Set<string>();
  let isBusy = false;

  async function tellAll(): Promise<void> {
    const payloads = [...waiting];
    waiting = new Set();
    const one = await connections.borrow();
    try {
      await one.run(NOTIFY, [JSON.stringify(payloads)]);
    } finally {
      one.giveBack();
    }
  }

  /** One statement at a time: what comes meanwhile goes with the next one. */
  async function tellInTurn(): Promise<void> {
    while (waiting.size > 0) {
      await new Promise<void>((resolve) => void setTimeout(resolve, GATHER_MS).unref());
      // A hint that is lost costs a reader its next look.
      await tellAll().catch(() => undefined);
    }
    isBusy = false;
  }

  return ({ kind, tenant, runId }) => {
    const payload = JSON.stringify([kind, tenant, runId]);
    const fits = Buffer.byteLength(payload) <= PAYLOAD_BYTES_MAX && waiting.size < WAITING_MAX;
    waiting.add(fits ? payload : ANYTHING);
    if (isBusy) return;
    isBusy = true;
    void tellInTurn();
  };
}

/** Until a lost connection is replaced, and until it is tried again, in ms. */
const RECONNECT_MS = { first: 100, last: 5_000 } as const;
const CONNECT_MS_MAX = 10_000;
/** A connection that nobody has needed for so long is closed. */
const IDLE_MS = 10_000;

export function changeFeed(url: string, listener: ChangeListener): ChangeFeed {
  let client: Client | undefined;
  let running: Promise<void> | undefined;
  const stopping = new AbortController();

  async function listen(): Promise<void> {
    for (let pause: number = RECONNECT_MS.first; isWanted();) {
      client = listeningClient(url, listener);
      let isLost = false;
      const ended = endOf(client).then(() => {
        isLost = true;
      });
      try {
        // One that is closed while it connects never says so.
        await Promise.race([client.connect(), ended]);
        await beginListening(client);
        pause = RECONNECT_MS.first;
        // What came while nobody listened.
        listener.changed();
        while (isWanted() && !isLost) await Promise.race([ended, later(IDLE_MS, stopping.signal)]);
      } catch {
        // As if the connection had been lost.
      }
      await close(client);
      if (!isWanted()) return;
      await later(pause, stopping.signal);
      pause = Math.min(pause * 2, RECONNECT_MS.last);
    }
  }

  const isWanted = (): boolean => !stopping.signal.aborted && listener.wanted();

  return {
    start() {
      if (stopping.signal.aborted) return;
      running ??= listen().finally(() => {
        running = undefined;
      });
    },
    async stop() {
      stopping.abort();
      if (client !== undefined) await close(client);
      await running;
    },
  };
}

function listeningClient(url: string, listener: ChangeListener): Client {
  const client = new Client({
    connectionString: url,
    fallback_application_name: 'holdfast',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    keepAlive: true,
  });
  client.on('notification', ({ payload }) => listener.changed(changeOf(payload)));
  return client;
}

async function beginListening(client: Client): Promise<void> {
  const { rows } = await client.query<{ channel: string }>(`select ${CHANNEL} as channel`);
  // The name is ours: a prefix and a hash.
  await client.query(`listen ${rows[0]!.channel}`);
  // Somebody who waits keeps its process alive; listening does not. The types do not know this method.
  (client as Client & { unref(): void }).unref();
}

/** Resolves when the connection is gone, for whatever reason. */
function endOf(client: Client): Promise<void> {
  return new Promise((resolve) => {
    client.on('error', () => resolve());
    client.on('end', () => resolve());
  });
}

async function close(client: Client): Promise<void> {
  // Its end is waited for: without it a process that does nothing else would be over before.
  (client as Client & { ref(): void }).ref();
  await client.end().catch(() => undefined);
}

/** Whoever may notify in this database may send anything. */
function changeOf(payload: string | undefined): Change | undefined {
  try {
    const parts: unknown = JSON.parse(payload ?? '');
    if (!Array.isArray(parts)) return undefined;
    const [kind, tenant, runId] = parts as readonly unknown[];
    if (typeof tenant !== 'string' || typeof runId !== 'string' || !isKind(kind)) return undefined;
    return { kind, tenant, runId };
  } catch {
    return undefined;
  }
}

function isKind(kind: unknown): kind is ChangeKind {
  return kind === 'events' || kind === 'stream';
}

function later(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    timer.unref();
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
