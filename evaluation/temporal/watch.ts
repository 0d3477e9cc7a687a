/**
 * Watches the events of a run that waits for people, and does what the case wants done then.
 * Invariant: it says so when a run waits for nothing but time that the case will not shorten.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunEvent } from '../../core/state/event.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { Store } from '../../store/store.js';
import { occurrenceOf, type Moments } from '../scripted/moments.js';
import type { MoveTime } from './moving-time.js';

const POLL_MS = 30;
/** Nothing has happened for so long: the run is asked what it waits for. */
const QUIET_MS = 3_000;
/** A question that expires sooner than this is waited for. */
const EXPIRY_MS_MAX = 30_000;
const PAGE = 500;

export interface Watch {
  readonly store: Pick<Store, 'readEvents' | 'listTree'>;
  readonly run: { readonly tenant: string; readonly runId: string };
  /** Performs what is to happen at an occurrence. */
  readonly reach: Moments['reach'];
  /** The run itself says that it does nothing but wait for people. */
  readonly isResting: () => Promise<boolean>;
  /** Where time can be moved: called while nothing new is told. */
  readonly moveTime?: MoveTime;
  readonly signal: AbortSignal;
}

/** Resolves with `waits for time`, or with `ended` when `signal` aborts. */
export async function watch(options: Watch): Promise<'waits for time' | 'ended'> {
  const { store, run, reach, signal } = options;
  const open = new Map<string, AskView>();
  const seen = new Map<string, number>();
  let lastChange = Date.now();
  while (!signal.aborted) {
    const events = await newEvents(store, run, seen);
    const isNew = events.length > 0;
    if (isNew) lastChange = Date.now();
    for (const event of events) {
      note(open, event);
      if (!asksSomebody(event)) continue;
      await reach(occurrenceOf(event));
      lastChange = Date.now();
    }
    const isQuiet = options.moveTime === undefined && Date.now() - lastChange > QUIET_MS;
    if (isQuiet && waitsLong(open)) {
      if (await options.isResting()) return 'waits for time';
      lastChange = Date.now();
    }
    if (await options.moveTime?.(isNew)) return 'waits for time';
    await sleep(POLL_MS);
  }
  return 'ended';
}

/** Of the run, of its sub-agents and of those that go on with its task. */
async function newEvents(
  store: Watch['store'],
  { tenant, runId }: Watch['run'],
  seen: Map<string, number>,
): Promise<readonly RunEvent[]> {
  const tree = await store.listTree(tenant, runId);
  const fresh: RunEvent[] = [];
  const known = [...seen.keys()];
  for (const id of new Set([runId, ...tree.map(({ child }) => child), ...known])) {
    const sinceSeq = seen.get(id) ?? 0;
    const { events } = await store.readEvents({ tenant, runId: id }, { sinceSeq, limit: PAGE });
    seen.set(id, sinceSeq + events.length);
    fresh.push(...events);
  }
  for (const event of fresh)
    if (event.type === 'handoff' && event.started !== undefined) seen.set(event.started.runId, 0);
  return fresh;
}

function asksSomebody({ type }: RunEvent): boolean {
  return type === 'approval_requested' || type === 'input_request';
}

function note(open: Map<string, AskView>, event: RunEvent): void {
  switch (event.type) {
    case 'approval_requested':
    case 'input_request':
      open.set(event.askId, event);
      return;
    case 'approval_resolved':
    case 'approval_withdrawn':
    case 'input_provided':
      open.delete(event.askId);
      return;
    default:
  }
}

function waitsLong(open: ReadonlyMap<string, AskView>): boolean {
  const soonest = Math.min(...[...open.values()].map(({ expiresAt }) => expiresAt));
  return open.size > 0 && soonest - Date.now() > EXPIRY_MS_MAX;
}
