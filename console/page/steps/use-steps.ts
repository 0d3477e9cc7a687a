/** The steps of a run, and the moment of the one that is looked at. */
import { useEffect, useState } from 'preact/hooks';
import { get, pathOf, wordsOf } from '../data/api.js';
import type { Moment, StepsIndex } from '../data/api-types.js';

export interface Steps {
  readonly index?: StepsIndex;
  /** Why there is none. */
  readonly fault?: string;
  /** Steps that came since. */
  readonly again: () => void;
}

export function useSteps(runId: string): Steps {
  const [found, setFound] = useState<Omit<Steps, 'again'>>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    get<StepsIndex>(pathOf('runs', runId, 'steps'), leaving.signal).then(
      (index) => setFound({ index }),
      (error: unknown) => leaving.signal.aborted || setFound({ fault: wordsOf(error) }),
    );
    return () => leaving.abort();
  }, [runId, round]);
  return { ...found, again: () => setRound((before) => before + 1) };
}

export interface MomentFound {
  /** Of another step while the one of now is being fetched. */
  readonly moment?: Moment;
  readonly fault?: string;
}

/** `step` 0: none is looked at. */
export function useMoment(runId: string, step: number): MomentFound {
  const [found, setFound] = useState<MomentFound>({});
  useEffect(() => {
    if (step < 1) return undefined;
    const leaving = new AbortController();
    get<Moment>(pathOf('runs', runId, 'steps', String(step)), leaving.signal).then(
      (moment) => setFound({ moment }),
      (error: unknown) => leaving.signal.aborted || setFound({ fault: wordsOf(error) }),
    );
    // Whoever moves the slider wants the last one alone.
    return () => leaving.abort();
  }, [runId, step]);
  return found;
}
