/**
 * The connections of one connector in this process: at most four, each for one call at a time, closed when nobody has used
 * them for a while. A connection on which something went wrong is never used again.
 */
import type { Connection } from './connection.js';
import { Unsent } from './fault.js';

const CONNECTIONS_MAX = 4;
const IDLE_MS = 5 * 60_000;

export interface Pool {
  /** `work` has the connection for itself; `keeps` says of what it threw whether the connection is still good. */
  with<T>(
    signal: AbortSignal,
    work: (connection: Connection) => Promise<T>,
    keeps: (error: unknown) => boolean,
  ): Promise<T>;
  close(): Promise<void>;
}

interface Idle {
  readonly connection: Connection;
  readonly timer: NodeJS.Timeout;
}

export function createPool(open: (signal: AbortSignal) => Promise<Connection>): Pool {
  const idle: Idle[] = [];
  const all = new Set<Connection>();
  const waiting: (() => void)[] = [];
  let busy = 0;
  let ended = false;

  const place = async (signal: AbortSignal): Promise<void> => {
    while (busy >= CONNECTIONS_MAX) {
      await new Promise<void>((resolve, reject) => {
        const stop = (): void => reject(new Error('Stopped while waiting for a connection.'));
        signal.addEventListener('abort', stop, { once: true });
        waiting.push(() => {
          signal.removeEventListener('abort', stop);
          resolve();
        });
      });
    }
    signal.throwIfAborted();
    busy += 1;
  };
  const leave = (): void => {
    busy -= 1;
    waiting.shift()?.();
  };
  const discard = async (connection: Connection): Promise<void> => {
    all.delete(connection);
    await connection.close();
  };
  const idleOne = (): Connection | undefined => {
    for (let next = idle.pop(); next !== undefined; next = idle.pop()) {
      clearTimeout(next.timer);
      if (!next.connection.closed()) return next.connection;
      void discard(next.connection);
    }
    return undefined;
  };
  const keep = (connection: Connection): void => {
    const timer = setTimeout(() => {
      idle.splice(idle.indexOf(entry), 1);
      void discard(connection);
    }, IDLE_MS);
    timer.unref();
    const entry = { connection, timer };
    idle.push(entry);
  };

  const using = async <T>(
    connection: Connection,
    work: (connection: Connection) => Promise<T>,
    keeps: (error: unknown) => boolean,
  ): Promise<T> => {
    let isGood = false;
    try {
      const value = await work(connection);
      isGood = true;
      return value;
    } catch (error) {
      isGood = !(error instanceof Unsent) && keeps(error);
      throw error;
    } finally {
      if (isGood && !ended && !connection.closed()) keep(connection);
      else void discard(connection);
    }
  };

  return {
    async with(signal, work, keeps) {
      if (ended) throw new Error('The worker is shutting down.');
      await place(signal);
      try {
        const reused = idleOne();
        if (reused !== undefined) {
          try {
            return await using(reused, work, keeps);
          } catch (error) {
            // The server has forgotten this connection, and was told nothing by it.
            if (!(error instanceof Unsent) || signal.aborted) throw error;
          }
        }
        const connection = await open(signal);
        all.add(connection);
        return await using(connection, work, keeps);
      } finally {
        leave();
      }
    },
    async close() {
      ended = true;
      for (const { timer } of idle) clearTimeout(timer);
      await Promise.all([...all].map((connection) => connection.close()));
    },
  };
}
