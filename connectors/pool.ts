/**
 * The connections of one connector in this process: at most four, each for one call at a time, closed when nobody has used
 * them for a while.
 * Invariant: a connection on which something went wrong is never used again.
 */
import type { Connection } from './connection.js';
import { Unsent } from './fault.js';

const CONNECTIONS_MAX = 4;
const IDLE_MS = 5 * 60_000;

export interface PoolWork<T> {
  /** It has the connection for itself. */
  readonly work: (connection: Connection) => Promise<T>;
  /** Whether the connection is still good after what `work` threw. */
  readonly keeps: (error: unknown) => boolean;
}

interface Idle {
  readonly connection: Connection;
  readonly timer: NodeJS.Timeout;
}

export class Pool {
  readonly #open: (signal: AbortSignal) => Promise<Connection>;
  readonly #idle: Idle[] = [];
  readonly #all = new Set<Connection>();
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #ended = false;

  constructor(open: (signal: AbortSignal) => Promise<Connection>) {
    this.#open = open;
  }

  async with<T>(signal: AbortSignal, task: PoolWork<T>): Promise<T> {
    if (this.#ended) throw new Error('The worker is shutting down.');
    await this.#place(signal);
    try {
      const reused = this.#idleOne();
      if (reused === undefined) return await this.#anew(signal, task);
      // The server may have forgotten this connection: nothing was told it then.
      return await this.#using(reused, task).catch((error: unknown) => {
        if (!(error instanceof Unsent) || signal.aborted) throw error;
        return this.#anew(signal, task);
      });
    } finally {
      this.#busy -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Nobody uses it, and nothing is open. */
  get isUnused(): boolean {
    return this.#busy === 0 && this.#all.size === 0;
  }

  async close(): Promise<void> {
    this.#ended = true;
    for (const { timer } of this.#idle) clearTimeout(timer);
    await Promise.all([...this.#all].map((connection) => connection.close()));
  }

  async #place(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#busy >= CONNECTIONS_MAX) await this.#turn(signal);
    if (signal.aborted) {
      // It may have been woken for a place that it takes no more.
      if (this.#busy < CONNECTIONS_MAX) this.#waiting.shift()?.();
      signal.throwIfAborted();
    }
    this.#busy += 1;
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const woken = (): void => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      const stop = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(woken), 1);
        reject(new Unsent('The call was stopped while it waited for a connection.'));
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.push(woken);
    });
  }

  async #anew<T>(signal: AbortSignal, task: PoolWork<T>): Promise<T> {
    const connection = await this.#open(signal);
    this.#all.add(connection);
    return this.#using(connection, task);
  }

  async #using<T>(connection: Connection, { work, keeps }: PoolWork<T>): Promise<T> {
    let isGood = false;
    try {
      const value = await work(connection);
      isGood = true;
      return value;
    } catch (error) {
      isGood = !(error instanceof Unsent) && keeps(error);
      throw error;
    } finally {
      if (isGood && !this.#ended && !connection.closed()) this.#keep(connection);
      else void this.#discard(connection);
    }
  }

  #idleOne(): Connection | undefined {
    for (let next = this.#idle.pop(); next !== undefined; next = this.#idle.pop()) {
      clearTimeout(next.timer);
      if (!next.connection.closed()) return next.connection;
      void this.#discard(next.connection);
    }
    return undefined;
  }

  #keep(connection: Connection): void {
    const timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(entry), 1);
      void this.#discard(connection);
    }, IDLE_MS);
    timer.unref();
    const entry = { connection, timer };
    this.#idle.push(entry);
  }

  async #discard(connection: Connection): Promise<void> {
    this.#all.delete(connection);
    await connection.close();
  }
}
