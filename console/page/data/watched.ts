/** A value that parts of the page look at which do not contain one another, such as whether the desk answers. */
import { useEffect, useState } from 'preact/hooks';

export interface Watched<T> {
  get(): T;
  set(value: T): void;
  /** Returns what ends it. */
  watch(listener: () => void): () => void;
}

export function watched<T>(first: T): Watched<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function useWatched<T>(source: Watched<T>): T {
  const [value, setValue] = useState(() => source.get());
  useEffect(() => {
    const take = (): void => setValue(() => source.get());
    // It may have changed since it was drawn.
    take();
    return source.watch(take);
  }, [source]);
  return value;
}
