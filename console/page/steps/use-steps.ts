/** The steps of a run, and the moment of the one that is looked at. What is known stays while the desk is away. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get, isRefusal, pathOf, wordsOf } from '../data/api.js';
import type { Moment, StepsIndex } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';
import { momentsAhead } from './moments-ahead.js';

const AGAIN_MS = 5_000;
const TOO_MANY = 429;
const INVALID = 400;
/** Messages of a request, the newest: it may have a thousand. */
export const MESSAGES_AT_FIRST = 6;

export interface Steps {
  readonly index?: StepsIndex;
  /** Why there is none, or none that is newer. */
  readonly fault?: string;
  /** Steps that came since. */
  readonly again: () => void;
}

export function useSteps(runId: string): Steps {
  const [round, setRound] = useState(0);
  const { value, fault } = useLasting<StepsIndex>(`${round} ${runId}`, (signal) =>
    get(pathOf('runs', runId, 'steps'), signal),
  );
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

/** `likely`: the steps that somebody probably looks at next, the likeliest first. */
export function useMoment(index: StepsIndex, step: number, likely: readonly number[]): MomentFound {
  const { runId, steps } = index;
  const ahead = useMemo(() => {
    const wanted = { runId, messages: MESSAGES_AT_FIRST };
    return momentsAhead(index, (asked, signal) => getMoment({ ...wanted, ...asked }, signal));
  }, [index]);
  useEffect(() => ahead.stop, [ahead]);
  const known = ahead.at(step);
  const { value, fault } = useLasting(
    `${step} ${steps.length} ${runId}`,
    async (signal) => known ?? (await ahead.read(step, signal)),
  );
  const moment = known ?? value;
  const isShown = moment?.step === step;
  // After the paint: nobody waits for it.
  useEffect(() => {
    if (isShown) void ahead.fetch(moment, likely);
  }, [ahead, moment, isShown, likely.join(' ')]);
  return {
    ...(moment !== undefined && { moment }),
    ...(fault !== undefined && known === undefined && { fault }),
  };
}

export interface MomentWanted {
  readonly runId: string;
  readonly step: number;
  /** So many of each request, the newest; absent: all. */
  readonly messages?: number | undefined;
  /** Nobody is shown it yet. */
  readonly ahead?: boolean;
}

export async function getMoment(
  { runId, step, messages, ahead = false }: MomentWanted,
  signal?: AbortSignal,
): Promise<Moment> {
  const path = pathOf('runs', runId, 'steps', String(step));
  if (messages === undefined) return get(path, signal);
  if (ahead) return get(`${path}?messages=${messages}&ahead=true`, signal);
  try {
    return await get(`${path}?messages=${messages}`, signal);
  } catch (error) {
    // A desk of an older release tells a moment as a whole or not at all.
    if (isRefusal(error) && error.status === INVALID) return get(path, signal);
    throw error;
  }
}

interface Lasting<T> {
  readonly value?: T;
  readonly fault?: string;
}

/**
 * Fetched until it comes or is refused, once for each name. One request is under way at a time: whoever drags
 * the slider sees what comes on the way, and the last one soon, because nothing waits behind what nobody wants any more.
 */
function useLasting<T>(name: string, read: (signal: AbortSignal) => Promise<T>): Lasting<T> {
  const [found, setFound] = useState<Lasting<T>>({});
  const settled = useRef('');
  const { soon } = usePoll(
    async (signal) => {
      if (settled.current === name) return;
      try {
        setFound({ value: await read(signal) });
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
  // Not after the next paint: whoever steps on waits for the answer.
  useLayoutEffect(soon, [name]);
  return found;
}
