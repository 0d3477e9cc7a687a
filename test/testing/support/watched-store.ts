/** A store whose calls are told, and at one of which the worker may die. */
import type { MemoryStore, Store, StoreCalls } from '../../../store/store.js';

export type When = 'before' | 'after';

/** `told` says whether what calls never hears of it. `requests.open`: attempts that have begun and not ended. */
export function watched(
  inner: MemoryStore,
  told: (when: When) => boolean,
  requests: { open: number },
): MemoryStore {
  const { empty, health, close, live, watchEvents, ...calls } = inner;
  const counting = (given: StoreCalls): StoreCalls => ({
    ...given,
    async startAttempt(start) {
      const number = await given.startAttempt(start);
      requests.open += 1;
      return number;
    },
    async finishAttempt(finish) {
      const isFirst = await given.finishAttempt(finish);
      if (isFirst) requests.open -= 1;
      return isFirst;
    },
  });
  const all: Partial<Store> = {
    ...calls,
    ...counting(calls),
    together: (work, step) => calls.together((given) => work(counting(given)), step),
  };
  const never = (): Promise<never> => new Promise(() => undefined);
  const guarded = Object.entries(all as Record<string, unknown>).map(([name, call]) => [
    name,
    async (...args: readonly unknown[]) => {
      if (told('before')) return never();
      const value = await (call as (...given: readonly unknown[]) => Promise<unknown>)(...args);
      return told('after') ? never() : value;
    },
  ]);
  const kept = { empty, health, close, live, watchEvents };
  return { ...kept, ...Object.fromEntries(guarded) } as MemoryStore;
}
