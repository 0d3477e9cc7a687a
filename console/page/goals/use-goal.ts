/** A goal as the desk and the goal itself tell it: looked at when it says that something happened, and now and then. */
import { useRef, useState } from 'preact/hooks';
import { announce } from '../data/announced.js';
import { get, isRefusal, pathOf } from '../data/api.js';
import type { GoalDetail } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';
import { words } from '../parts/format.js';

/** Its events tell when there is something new: a goal that sleeps is not woken up to be asked. */
const LOOK_MS = 20_000;

export interface KnownGoal {
  readonly goal?: GoalDetail;
  /** Why it cannot be shown. */
  readonly refusal?: unknown;
  readonly soon: () => void;
}

export function statusOf({ status, view }: Pick<GoalDetail, 'status' | 'view'>): string {
  return view?.status ?? status;
}

const ENDED = ['completed', 'stopped', 'failed', 'cancelled'];

export function hasEnded({ status, result }: Pick<GoalDetail, 'status' | 'result'>): boolean {
  return result !== undefined || ENDED.includes(status);
}

/** Whether the goal itself says its pace; else only its first one is known. */
export function isTold({ view }: Pick<GoalDetail, 'view'>): boolean {
  return view?.['pace'] !== undefined;
}

/** The newest that is known; undefined: nobody knows. */
export function paceOf({ view, definition }: Pick<GoalDetail, 'view' | 'definition'>): unknown {
  return view?.['pace'] ?? definition?.['pace'];
}

export function useGoal(goalId: string): KnownGoal {
  const [goal, setGoal] = useState<GoalDetail>();
  const [refusal, setRefusal] = useState<unknown>();
  const seen = useRef<string | undefined>(undefined);
  const { soon } = usePoll(
    async (signal) => {
      const found = await get<GoalDetail>(pathOf('goals', goalId), signal).catch(
        (error: unknown) => {
          if (seen.current === undefined && isRefusal(error)) setRefusal(error);
          throw error;
        },
      );
      if (signal.aborted) return;
      setGoal(found);
      setRefusal(undefined);
      const status = statusOf(found);
      if (seen.current !== undefined && seen.current !== status) {
        announce(`The goal is ${words(status)}.`);
      }
      seen.current = status;
    },
    { everyMs: LOOK_MS, name: goalId },
  );
  return { ...(goal !== undefined && { goal }), refusal, soon };
}
