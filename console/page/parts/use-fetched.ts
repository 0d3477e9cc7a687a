/** What stays as it is once it is there: fetched until it comes, or is refused. */
import { useRef, useState } from 'preact/hooks';
import { get, isRefusal, wordsOf } from '../data/api.js';
import { usePoll } from '../data/use-poll.js';

const AGAIN_MS = 5_000;
const TOO_MANY = 429;
const NOT_FOUND = 404;

export interface Fetched<T> {
  readonly value?: T;
  readonly refusal?: unknown;
}

export function useFetched<T>(path: string): Fetched<T> {
  const [found, setFound] = useState<Fetched<T>>({});
  const isOver = useRef(false);
  usePoll(
    async (signal) => {
      if (isOver.current) return;
      const next = await get<T>(path, signal).then(
        (value): Fetched<T> => ({ value }),
        (refusal: unknown): Fetched<T> => {
          if (!isRefusal(refusal) || refusal.status === TOO_MANY) throw refusal;
          return { refusal };
        },
      );
      isOver.current = true;
      setFound(next);
    },
    { everyMs: AGAIN_MS, name: path },
  );
  return found;
}

/** Why there is nothing to show; `absent` is said where the desk knows nothing of it. */
export function refusalText(refusal: unknown, absent: string): string {
  return isRefusal(refusal) && refusal.status === NOT_FOUND ? absent : wordsOf(refusal);
}
