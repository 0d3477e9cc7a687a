/** Looking again and again as long as a component is there. */
import { useEffect, useRef } from 'preact/hooks';
import { poll, type Polling } from './polling.js';

export interface Watch {
  readonly everyMs: number;
  /** Another name is another thing to look at: what was under way for the old one ends. */
  readonly name: string;
}

/** `look` gets a signal that ends with the component; of several renders the newest one's is called. */
export function usePoll(
  look: (signal: AbortSignal) => Promise<unknown>,
  { everyMs, name }: Watch,
): Polling {
  const newest = useRef(look);
  newest.current = look;
  const polling = useRef<Polling | undefined>(undefined);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    polling.current = poll(() => newest.current(signal), { everyMs, signal });
    return () => leaving.abort();
  }, [name, everyMs]);
  const soon = useRef(() => polling.current?.soon());
  return { soon: soon.current };
}
