/**
 * The connection of a client over changes of its credentials. A call goes over the connection that its deadline was
 * set on, from its beginning to its end; the next one over the newest.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Connection } from '@temporalio/client';
import {
  checkMaterial,
  credentialsOf,
  sdkTls,
  startRenewal,
  tlsOf,
  type Change,
  type Credentials,
  type Reach,
} from '../connection/index.js';
import { retries, type Retries } from './retries.js';
import { connectFailure } from './server-failure.js';

const CONNECT_LIMIT_MS = 5_000;
/** Calls that began over the connection before have ended by then. */
const RETIRED_MS = 90_000;

export interface ClientPlace extends Reach {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly limitMs?: number | undefined;
  readonly say?: (line: string) => void;
}

export interface LiveConnection {
  /** Stands for whichever connection there is. */
  readonly connection: Connection;
  close(): Promise<void>;
}

interface Opened {
  readonly connection: Connection;
  readonly retrying: Retries;
}

/** Errors: ServerUnavailable with `details.reason`; InvalidConfig for certificates that cannot be used. */
export async function openConnection(place: ClientPlace): Promise<LiveConnection> {
  let current = await opened(place, credentialsOf(place));
  if (place.renew === undefined) {
    const { connection } = current;
    return { connection, close: () => closed(current) };
  }
  const retired = new Map<Opened, NodeJS.Timeout>();

  async function apply({ credentials, tls, metadata }: Change): Promise<void> {
    const next = await opened(place, credentials);
    const { apiKey } = credentials;
    if (!tls && !metadata && apiKey !== undefined) {
      current.connection.setApiKey(apiKey);
      return closed(next);
    }
    const before = current;
    current = next;
    const timer = setTimeout(() => void retire(before), RETIRED_MS);
    timer.unref();
    retired.set(before, timer);
  }

  async function retire(before: Opened): Promise<void> {
    clearTimeout(retired.get(before));
    retired.delete(before);
    await closed(before);
  }

  const { say = () => undefined } = place;
  const callers = new AsyncLocalStorage<Connection>();
  const renewal = startRenewal(place, { apply, say });
  return {
    connection: newestOf(() => current.connection, callers),
    async close() {
      await renewal?.stop();
      await Promise.all([...retired.keys()].map(retire));
      await closed(current);
      // Until Node 24 each storage that was used costs every later promise of its process.
      callers.disable();
    },
  };
}

/** A call's context (deadline, metadata) belongs to the connection that made it. */
function newestOf(newest: () => Connection, callers: AsyncLocalStorage<Connection>): Connection {
  return new Proxy(newest(), {
    get(_, key) {
      const connection = callers.getStore() ?? newest();
      const value: unknown = Reflect.get(connection, key, connection);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown =>
        callers.run(connection, () => Reflect.apply(value, connection, given));
    },
  });
}

async function opened(place: ClientPlace, credentials: Credentials): Promise<Opened> {
  const { address, limitMs = CONNECT_LIMIT_MS } = place;
  const { apiKey, metadata } = credentials;
  const tls = tlsOf(credentials);
  if (tls !== undefined) checkMaterial(tls);
  const retrying = retries();
  const connection = Connection.lazy({
    address,
    tls: sdkTls(credentials) ?? false,
    ...(apiKey !== undefined && { apiKey }),
    ...(metadata !== undefined && { metadata: { ...metadata } }),
    connectTimeout: limitMs,
    interceptors: [retrying.interceptor],
  });
  try {
    await connection.ensureConnected();
    return { connection, retrying };
  } catch (error) {
    await closed({ connection, retrying });
    throw await connectFailure(error, { ...place, ...credentials });
  }
}

async function closed({ connection, retrying }: Opened): Promise<void> {
  await retrying.settle();
  await connection.close();
}
