/**
 * `Promise.race` for promises that are waited for again and again.
 * Invariant: a promise that stays open keeps nothing of a wait that is over; `Promise.race` keeps each of them until the promise ends.
 */

interface Waiter<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Of promises that are open, as far as is known. */
const waiting = new WeakMap<Promise<unknown>, Set<Waiter<unknown>>>();

/** As the first of them ends. */
export async function firstOf<T>(promises: readonly Promise<T>[]): Promise<T> {
  const lists = promises.map(waitersFor);
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => lists.forEach((list) => list.delete(waiter));
    const waiter: Waiter<T> = {
      resolve: (value) => (leave(), resolve(value)),
      reject: (error) => (leave(), reject(error)),
    };
    for (const list of lists) list.add(waiter);
  });
}

function waitersFor<T>(promise: Promise<T>): Set<Waiter<T>> {
  const known = waiting.get(promise);
  if (known !== undefined) return known;
  const waiters = new Set<Waiter<T>>();
  const end = (tell: (waiter: Waiter<T>) => void): void => {
    // Who waits from now on is told by a list of its own.
    waiting.delete(promise);
    for (const waiter of waiters) tell(waiter);
  };
  promise.then(
    (value) => end((waiter) => waiter.resolve(value)),
    (error: unknown) => end((waiter) => waiter.reject(error)),
  );
  waiting.set(promise, waiters);
  return waiters;
}
