/** Reads of the store that keep nobody from deciding: whoever can reach Temporal can reach the run. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HoldfastError } from '../core/state/errors.js';
import { isStoreAway } from '../store/away.js';
import type { ReadingStore } from './link.js';

export const STORE_AWAY = Symbol('the store is away');

/** A store that has not answered by then counts as away, ms. */
const ANSWER_MS_MAX = 5_000;
/** A store that was away just now is not asked again at once, ms: several reads of one request wait once. */
const REMEMBERED_MS = 2_000;

const awayUntil = new WeakMap<object, number>();
const reasons = new WeakMap<object, HoldfastError>();

/** What was read; STORE_AWAY when the store cannot be reached in time. Errors: any other of `read`. */
export async function unlessStoreAway<Store extends object, T>(
  store: Store,
  read: (store: Store) => Promise<T>,
): Promise<T | typeof STORE_AWAY> {
  if (performance.now() < (awayUntil.get(store) ?? 0)) return STORE_AWAY;
  const answer = await answerInTime(store, read);
  if (answer === STORE_AWAY) awayUntil.set(store, performance.now() + REMEMBERED_MS);
  return answer;
}

/** What the store said of itself when it was away last; absent: it did not answer in time. */
export function whyAway(store: object): HoldfastError | undefined {
  return reasons.get(store);
}

async function answerInTime<Store extends object, T>(
  store: Store,
  read: (store: Store) => Promise<T>,
): Promise<T | typeof STORE_AWAY> {
  reasons.delete(store);
  const stop = new AbortController();
  const late = sleep(ANSWER_MS_MAX, undefined, { signal: stop.signal }).then(
    (): typeof STORE_AWAY => STORE_AWAY,
    (): typeof STORE_AWAY => STORE_AWAY,
  );
  try {
    return await Promise.race([read(store), late]);
  } catch (error) {
    if (!isStoreAway(error)) throw error;
    reasons.set(store, error);
    return STORE_AWAY;
  } finally {
    stop.abort();
  }
}

/** In place of a store that could not be opened: every read says why. */
export function awayStore(why: HoldfastError): ReadingStore {
  const refuse = (): never => {
    throw why;
  };
  const live = new Proxy({}, { get: () => refuse });
  const refuseLater = (): Promise<never> => Promise.reject(why);
  const calls = { get: (_: object, name: string) => (name === 'live' ? live : refuseLater) };
  return new Proxy({}, calls) as ReadingStore;
}
