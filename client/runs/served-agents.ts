/**
 * Whether a worker serves the agent that somebody wants to start (G118).
 * Invariants: only what is known refuses a start: without a store, with one that is away, and on a queue whose workers
 * write nothing into it, every start goes on; a worker that is just starting is waited for.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import { executionOf } from './execution.js';
import type { Link } from '../link.js';
import { didYouMean, nearestNames } from '../../pure/nearest-names.js';
import { START_A_WORKER } from '../server-failure.js';
import { STORE_AWAY, unlessStoreAway } from '../store-away.js';
import { workerCount } from '../workers.js';

/** A worker that is just starting gets this long before it is missed, in ms. */
export const NO_WORKER_MS = 8_000;
const POLL_MS = 200;
const DAY_MS = 86_400_000;
/** The server counts a worker that is gone for up to 90 s: whoever is counted later writes no rows. */
const COUNTED_MS = 120_000;
const WORKERS_MAX = 1_000;
const NAMES_SHOWN_MAX = 20;
const OR_WAIT =
  'Or start with --wait (wait: true): the run then begins as soon as a worker with it is there.';

const OR_LATER = 'Or make it again when a worker with the agent is there.';

export interface WantedAgent {
  readonly agent: string;
  /** Given by the caller: a run that exists already needs no worker to be found. */
  readonly runId: string | undefined;
  /** Longest wait for a worker that is just starting, ms. */
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Errors: UnknownAgent, ServerUnavailable without any worker, Aborted by the signal. */
export async function refuseUnserved(link: Link, wanted: WantedAgent): Promise<void> {
  const { agent, limitMs, signal } = wanted;
  const deadline = performance.now() + Math.min(NO_WORKER_MS, limitMs);
  for (;;) {
    if (signal?.aborted) throw notWanted();
    const known = await servedAgents(link);
    if (known === undefined || known.includes(agent)) return;
    const isLate = performance.now() >= deadline;
    if (known.length > 0 || isLate) {
      if (await exists(link, wanted.runId)) return;
      throw known.length > 0
        ? unknownAgent(link, { agent, known, otherwise: OR_WAIT })
        : nobodyThere(link);
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** For what starts later, where no worker need be there now. Errors: UnknownAgent while others are served. */
export async function refuseUnknown(link: Link, agent: string): Promise<void> {
  const known = (await servedAgents(link)) ?? [];
  if (known.length === 0 || known.includes(agent)) return;
  throw unknownAgent(link, { agent, known, otherwise: OR_LATER });
}

/** Names of the agents that living workers serve; undefined: nobody knows. */
async function servedAgents(link: Link): Promise<readonly string[] | undefined> {
  const { store, namespace, taskQueue } = link;
  if (store === undefined) return undefined;
  try {
    const queue = { namespace, taskQueue, withinMs: DAY_MS, limit: WORKERS_MAX };
    const workers = await unlessStoreAway(store, (calls) => calls.listServed(queue));
    if (workers === STORE_AWAY) return undefined;
    const alive = workers.filter(({ isAlive }) => isAlive).map(({ code }) => code);
    if (alive.some(({ incomplete }) => incomplete)) return undefined;
    if (alive.length > 0) return [...new Set(alive.flatMap(({ agents }) => agents))].toSorted();
    // Workers of an older release say nothing in the store.
    const silentMs = Math.min(...workers.map((worker) => worker.silentMs));
    const others = silentMs > COUNTED_MS && (await workerCount(link)) > 0;
    return others ? undefined : [];
  } catch {
    return undefined;
  }
}

async function exists(link: Link, runId: string | undefined): Promise<boolean> {
  if (runId === undefined) return false;
  return executionOf(link, runId, 'brief').then(
    () => true,
    (error: unknown) => !(error instanceof HoldfastError && error.code === 'RunNotFound'),
  );
}

interface Unknown {
  readonly agent: string;
  readonly known: readonly string[];
  /** What else to do: the end of the hint. */
  readonly otherwise: string;
}

function unknownAgent({ taskQueue }: Link, { agent, known, otherwise }: Unknown): HoldfastError {
  const nearest = nearestNames(agent, known);
  const shown = known.slice(0, NAMES_SHOWN_MAX).join(', ');
  return new HoldfastError(
    'UnknownAgent',
    `No worker on task queue ${taskQueue} serves an agent named ${JSON.stringify(agent)}.`,
    {
      hint: `${didYouMean(agent, known)}Workers serve ${shown}. ${otherwise}`,
      details: { known: known.slice(0, NAMES_SHOWN_MAX), nearest, taskQueue },
    },
  );
}

function nobodyThere({ taskQueue }: Link): HoldfastError {
  return new HoldfastError(
    'ServerUnavailable',
    `No worker is running on task queue ${taskQueue}; the run was not started.`,
    { hint: `${START_A_WORKER} ${OR_WAIT}`, details: { taskQueue, workers: 0 } },
  );
}

function notWanted(): HoldfastError {
  return new HoldfastError('Aborted', 'The run was not started: nobody waits for it any more.', {
    hint: 'Start it again.',
  });
}
