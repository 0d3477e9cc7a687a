/** The steps of a run, and the moment of the one that is looked at. What is known stays while the desk is away. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, isRefusal, pathOf, wordsOf } from '../data/api.js';
import type { Moment, StepsIndex } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';

const AGAIN_MS = 5_000;
const TOO_MANY = 429;

export interface Steps {
  readonly index?: StepsIndex;
  /** Why there is none, or none that is newer. */
  readonly fault?: string;
  /** Steps that came since. */
  readonly again: () => void;
}

export function useSteps(runId: string): Steps {
  const [round, setRound] = useState(0);
  const { value, fault } = useLasting<StepsIndex>(pathOf('runs', runId, 'steps'), round);
  return {
    ...(value !== undefined && { index: value }),
    ...(fault !== undefined && { fault }),
    again: () => setRound((before) => before + 1),
  };
}

export interface MomentFound {
  /** Of another step while the one of now is being fetched. */
  readonly moment?: Moment;
  readonly fault?: string;
}

export function useMoment(runId: string, step: number): MomentFound {
  const { value, fault } = useLasting<Moment>(pathOf('runs', runId, 'steps', String(step)));
  return {
    ...(value !== undefined && { moment: value }),
    ...(fault !== undefined && { fault }),
  };
}

interface Lasting<T> {
  readonly value?: T;
  readonly fault?: string;
}

/**
 * Fetched until it comes or is refused, once for each path and round. One request is under way at a time: whoever drags
 * the slider sees what comes on the way, and the last one soon, because nothing waits behind what nobody wants any more.
 */
function useLasting<T>(path: string, round = 0): Lasting<T> {
  const [found, setFound] = useState<Lasting<T>>({});
  const settled = useRef('');
  const name = `${round} ${path}`;
  const { soon } = usePoll(
    async (signal) => {
      if (settled.current === name) return;
      try {
        setFound({ value: await get<T>(path, signal) });
        settled.current = name;
      } catch (error) {
        if (signal.aborted) return;
        setFound((before) => ({ ...before, fault: wordsOf(error) }));
        if (!isRefusal(error) || error.status === TOO_MANY) throw error;
        settled.current = name;
      }
    },
    { everyMs: AGAIN_MS, name: 'steps' },
  );
  useEffect(soon, [name]);
  return found;
}
