/**
 * What of a view outlives a reload and a way back: it lies beside the address, in this entry of the browser's history.
 * A link to another view begins anew.
 */
import { useState } from 'preact/hooks';

type Kept = { readonly [name: string]: unknown };

function all(): Kept {
  return (history.state ?? {}) as Kept;
}

/** `name` is one of the view's own. What a page of another release kept in another form is taken as far as it has that of `first`. */
export function keptOf<T>(name: string, first: T): T {
  return fitting(first, all()[name]) as T;
}

/** What `first` does not have is a text: of a list, or of a record whose names are open. */
function fitting(first: unknown, kept: unknown): unknown {
  if (typeof kept !== typeof first || kept === null) return first;
  if (Array.isArray(first)) return Array.isArray(kept) ? kept.filter(isText) : first;
  if (typeof first !== 'object') return kept;
  const more = Object.entries(kept as object).filter(([, value]) => isText(value));
  const known = Object.entries(first as object).map(([name, value]) => [
    name,
    fitting(value, (kept as Kept)[name]),
  ]);
  return Object.fromEntries([...more, ...known]);
}

const isText = (value: unknown): boolean => typeof value === 'string';

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
