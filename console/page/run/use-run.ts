/** A run as the desk and the run itself tell it, looked at every few seconds. */
import { useRef, useState } from 'preact/hooks';
import { announce } from '../data/announced.js';
import { isRefusal } from '../data/api.js';
import type { RunDetail, RunState } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';
import { words } from '../parts/format.js';
import { fetchRun, fetchState, hasEnded } from './run-data.js';

const LOOK_MS = 3_000;
const STATE_EVERY = 2;

export interface KnownRun {
  readonly run?: RunDetail;
  /** Undefined until a worker has answered once. */
  readonly state?: RunState | undefined;
  /** Why it cannot be shown. */
  readonly refusal?: unknown;
  readonly soon: () => void;
}

export function useRun(runId: string): KnownRun {
  const [run, setRun] = useState<RunDetail>();
  const [state, setState] = useState<RunState>();
  const [refusal, setRefusal] = useState<unknown>();
  const seen = useRef({ looks: 0, status: '' });
  const { soon } = usePoll(
    async (signal) => {
      const found = await fetchRun(runId, signal).catch((error: unknown) => {
        if (seen.current.looks === 0 && isRefusal(error)) setRefusal(error);
        throw error;
      });
      setRun(found);
      setRefusal(undefined);
      const { looks, status } = seen.current;
      if (looks > 0 && found.status !== status) announce(`The run is ${words(found.status)}.`);
      seen.current = { looks: looks + 1, status: found.status };
      if (hasEnded(found) || looks % STATE_EVERY !== 0) return;
      const told = await fetchState(runId, signal);
      if (told !== undefined && !signal.aborted) setState(told);
    },
    { everyMs: LOOK_MS, name: runId },
  );
  return { ...(run !== undefined && { run }), state, refusal, soon };
}
