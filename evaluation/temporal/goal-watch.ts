/**
 * Watches a goal and its cycles while they wait for people or for time, and does what the case wants done then.
 * Invariant: it says so when a goal waits for nothing but time that the case will not shorten.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunEvent } from '../../core/state/event.js';
import type { Store } from '../../store/store.js';
import { occurrenceOf, type Moments } from '../scripted/moments.js';
import type { MoveTime } from './moving-time.js';

const POLL_MS = 30;
/** Nothing has happened for so long: it is looked at what the goal waits for. */
const QUIET_MS = 3_000;
/** A sleep or a question that ends sooner than this is waited for. */
const SLEEP_MS_MAX = 2_000;
const ASK_MS_MAX = 30_000;
const PAGE = 500;

export interface GoalWatch {
  readonly store: Pick<Store, 'readEvents'>;
  readonly goal: { readonly tenant: string; readonly goalId: string };
  /** Performs what is to happen at an occurrence. */
  readonly reach: Moments['reach'];
  /** The goal itself says that it waits. */
  readonly isResting: () => Promise<boolean>;
  /** Where time can be moved: called while nothing new is told. */
  readonly moveTime?: MoveTime;
  readonly signal: AbortSignal;
}

/** Resolves with `waits for time`, or with `ended` when `signal` aborts. */
export async function watchGoal(options: GoalWatch): Promise<'waits for time' | 'ended'> {
  const { store, goal, reach, signal } = options;
  const { tenant, goalId } = goal;
  /** How many events of each run are known. */
  const seen = new Map([[goalId, 0]]);
  const waits = new Map<string, number>();
  let lastChange = Date.now();
  while (!signal.aborted) {
    let isNew = false;
    for (const [runId, sinceSeq] of seen) {
      const { events } = await store.readEvents({ tenant, runId }, { sinceSeq, limit: PAGE });
      seen.set(runId, sinceSeq + events.length);
      for (const runId of startedIn(events)) seen.set(runId, seen.get(runId) ?? 0);
      for (const event of events) note(waits, event);
      for (const event of events.filter(isReached)) await reach(occurrenceOf(event));
      isNew ||= events.length > 0;
    }
    if (isNew) lastChange = Date.now();
    const isQuiet = options.moveTime === undefined && Date.now() - lastChange > QUIET_MS;
    if (isQuiet && waitsLong(waits)) {
      if (await options.isResting()) return 'waits for time';
      lastChange = Date.now();
    }
    if (await options.moveTime?.(isNew)) return 'waits for time';
    await sleep(POLL_MS);
  }
  return 'ended';
}

function startedIn(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'cycle_started' ? [event.runId] : []));
}

/** It waits behind these, until somebody says something. */
const REACHED_BY_WATCHING: readonly RunEvent['type'][] = [
  'approval_requested',
  'input_request',
  'goal_sleeping',
];

function isReached({ type }: RunEvent): boolean {
  return REACHED_BY_WATCHING.includes(type);
}

const SLEEP = 'sleep';

/** Until when it waits, by what it waits for; Infinity: for a person. */
function note(waits: Map<string, number>, event: RunEvent): void {
  switch (event.type) {
    case 'approval_requested':
    case 'input_request':
      waits.set(event.askId, event.expiresAt - ASK_MS_MAX);
      return;
    case 'approval_resolved':
    case 'approval_withdrawn':
    case 'input_provided':
      waits.delete(event.askId);
      return;
    case 'goal_sleeping':
      waits.set(SLEEP, (event.until ?? Infinity) - SLEEP_MS_MAX);
      return;
    case 'goal_woken':
    case 'stop':
      waits.delete(SLEEP);
      return;
    default:
  }
}

function waitsLong(waits: ReadonlyMap<string, number>): boolean {
  return waits.size > 0 && Math.min(...waits.values()) > Date.now();
}
