/** Waiting for a goal: for its result, or until it or its open cycle needs a person. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskView } from '../../core/state/ask-view.js';
import type { Link } from '../link.js';
import { resultOf, type WaitOptions } from '../runs/outcome.js';
import { readAsks } from '../runs/state.js';
import { withRecord, type GoalResult } from './goal-record.js';
import { readGoalState } from './goal-state.js';

export type GoalOutcomeNow =
  | { readonly kind: 'ended'; readonly result: GoalResult }
  /** `runId`: of the goal, or of its cycle that asks. */
  | { readonly kind: 'waiting'; readonly runId: string; readonly asks: readonly AskView[] };

const POLL_MS = { first: 300, last: 5_000 } as const;
const QUERY_LIMIT_MS = 3_000;

export async function goalOutcome(
  link: Link,
  goalId: string,
  options: WaitOptions = {},
): Promise<GoalOutcomeNow> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const ended = resultOf(link, goalId, { ...options, signal }).then(
    async (result): Promise<GoalOutcomeNow> => ({
      kind: 'ended',
      result: await withRecord(link, result),
    }),
  );
  // The loser of the race is abandoned; its failure must not be taken for an unhandled one.
  ended.catch(() => undefined);
  try {
    return await Promise.race([ended, waitingFor(link, goalId, signal)]);
  } finally {
    stop.abort();
  }
}

/** Never resolves when the goal ends before. */
async function waitingFor(
  link: Link,
  goalId: string,
  signal: AbortSignal,
): Promise<GoalOutcomeNow> {
  let pause: number = POLL_MS.first;
  while (!signal.aborted) {
    const asked = await askedNow(link, goalId).catch(() => undefined);
    if (asked !== undefined) return asked;
    await sleep(pause, undefined, { signal }).catch(() => undefined);
    pause = Math.min(pause * 1.5, POLL_MS.last);
  }
  return new Promise(() => undefined);
}

async function askedNow(link: Link, goalId: string): Promise<GoalOutcomeNow | undefined> {
  const { asks, cycle } = await readGoalState(link, goalId, QUERY_LIMIT_MS);
  if (asks.length > 0) return { kind: 'waiting', runId: goalId, asks };
  if (cycle === undefined) return undefined;
  // The store is asked first, because that costs the worker nothing.
  const row = await link.store?.getRun(link.tenant, cycle.runId);
  if (row !== undefined && !row.status.startsWith('awaiting_')) return undefined;
  const ofCycle = await readAsks(link, cycle.runId);
  return ofCycle.length === 0 ? undefined : { kind: 'waiting', runId: cycle.runId, asks: ofCycle };
}
