/**
 * Work that takes real time while virtual time stands still: what a client says to a server goes through streams and tasks of
 * its own. Where it waits for something of the case (a delay, a stop), virtual time goes on.
 * Invariant: work counts once while it is under way and not at all when it has ended, whatever it still waits for.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

interface Work {
  readonly of: RealTime;
  state: 'busy' | 'waiting' | 'ended';
}

/** Of all cases: until Node 24 each storage that was used costs every later promise of its process. */
const WORK = new AsyncLocalStorage<Work>();

export class RealTime {
  private readonly busy = new Set<Work>();
  private listening: (() => void)[] = [];

  /** Ends when something of it has; undefined: nothing is under way. */
  current(): Promise<void> | undefined {
    if (this.busy.size === 0) return undefined;
    return new Promise((resolve) => this.listening.push(resolve));
  }

  async during<T>(perform: () => Promise<T>): Promise<T> {
    const work: Work = { of: this, state: 'busy' };
    this.enter(work, 'busy');
    try {
      return await WORK.run(work, perform);
    } finally {
      this.enter(work, 'ended');
    }
  }

  /** The same, for no longer than `limitMs`: then virtual time goes on, in which the work meets its own limit. */
  duringAtMost<T>(limitMs: number, perform: () => Promise<T>): Promise<T> {
    return this.during(async () => {
      const performed = perform();
      await settledOrOver(performed, limitMs);
      return this.except(() => performed);
    });
  }

  /** Within `during`: what is waited for comes in the time of the case. */
  async except<T>(wait: () => Promise<T>): Promise<T> {
    const work = WORK.getStore();
    if (work?.of !== this) return wait();
    this.enter(work, 'waiting');
    try {
      return await wait();
    } finally {
      this.enter(work, 'busy');
    }
  }

  private enter(work: Work, state: Work['state']): void {
    if (work.state === 'ended') return;
    work.state = state;
    if (state === 'busy') {
      this.busy.add(work);
      return;
    }
    this.busy.delete(work);
    const told = this.listening;
    this.listening = [];
    for (const resolve of told) resolve();
  }
}

/** Ends when `work` has settled, or after `limitMs` of real time. */
export async function settledOrOver(work: Promise<unknown>, limitMs: number): Promise<void> {
  const settled = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: settled.signal }).catch(() => undefined);
  await Promise.race([work.catch(() => undefined), limit]);
  settled.abort();
}
