/**
 * The connection of a worker over changes of its credentials: new certificates take a new connection, a new API key
 * is put into the one that there is.
 * Invariant: the server has accepted the new credentials before the old ones are let go.
 */
import type { NativeConnection, Worker } from '@temporalio/worker';
import { startRenewal, type Change, type Reach } from '../connection/index.js';
import { connect } from './connection.js';

/** Calls that began over the connection before, a long poll among them, have ended by then. */
const RETIRED_MS = 90_000;

export interface LiveConnection {
  /** Closes what is open; the worker must have ended. */
  close(): Promise<void>;
}

export interface Live extends Reach {
  readonly address: string;
  readonly worker: Worker;
  readonly connection: NativeConnection;
  readonly tell: (line: string) => void;
}

export function keepConnected({
  address,
  worker,
  connection,
  tell,
  ...reach
}: Live): LiveConnection {
  let current = connection;
  const retired = new Map<NativeConnection, NodeJS.Timeout>();

  async function apply({ credentials, tls, metadata: changedMetadata }: Change): Promise<void> {
    const next = await connect({ address, ...credentials, attemptsMax: 1 });
    const { apiKey } = credentials;
    // What was removed cannot be taken out of a connection.
    if (tls || changedMetadata || apiKey === undefined) {
      worker.connection = next;
      retire(current);
      current = next;
      return;
    }
    await current.setApiKey(apiKey);
    await next.close();
  }

  function retire(old: NativeConnection): void {
    const timer = setTimeout(() => void closed(old), RETIRED_MS);
    timer.unref();
    retired.set(old, timer);
  }

  async function closed(old: NativeConnection): Promise<void> {
    clearTimeout(retired.get(old));
    retired.delete(old);
    await old.close().catch(() => undefined);
  }

  const renewal = startRenewal(reach, { apply, say: tell });
  return {
    async close() {
      await renewal?.stop();
      await Promise.all([...retired.keys()].map(closed));
      await current.close();
    },
  };
}
