/**
 * What of a view outlives a reload and a way back: it lies beside the address, in this entry of the browser's history.
 * A link to another view begins anew.
 */
import { useState } from 'preact/hooks';

type Kept = { readonly [name: string]: unknown };

function all(): Kept {
  return (history.state ?? {}) as Kept;
}

/** `name` is one of the view's own. */
export function keptOf<T>(name: string, first: T): T {
  return (all()[name] as T | undefined) ?? first;
}

export function keep(name: string, value: unknown): void {
  history.replaceState({ ...all(), [name]: value }, '');
}

export function useKept<T>(name: string, first: T): [T, (value: T) => void] {
  const [value, set] = useState<T>(() => keptOf(name, first));
  return [
    value,
    (next) => {
      keep(name, next);
      set(() => next);
    },
  ];
}
