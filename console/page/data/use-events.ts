/** Events as they happen, by a stream that goes on where it broke off. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from './announced.js';
import type { RunEvent } from './api-types.js';
import { follow } from './stream.js';

/** However many events come, nothing is drawn more often. */
const DRAW_MS = 100;

/** What is made of events; filled in place. */
export interface EventTaker {
  take(event: RunEvent): void;
  /** What was seen from this number on did not happen. */
  reset(fromSeq: number): void;
}

export interface Followed<T extends EventTaker> {
  /** Address of the stream. */
  readonly path: string;
  readonly make: () => T;
  /** Whose events they are, as people call it. */
  readonly noun: string;
  readonly told: (event: RunEvent) => void;
}

export function useEvents<T extends EventTaker>({ path, make, noun, told }: Followed<T>): T {
  const record = useRef<T | undefined>(undefined);
  record.current ??= make();
  const taker = record.current;
  const [, setDrawn] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = (): void => {
      timer = undefined;
      setDrawn((count) => count + 1);
    };
    void follow(path, {
      signal,
      entry({ event, data }) {
        if (event === 'reset') {
          taker.reset((data as { readonly fromSeq: number }).fromSeq);
          announce(`The ${noun} was reset.`);
        }
        if (event === 'event') {
          taker.take(data as RunEvent);
          told(data as RunEvent);
        }
        timer ??= setTimeout(draw, DRAW_MS);
      },
    });
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [path]);
  return taker;
}
