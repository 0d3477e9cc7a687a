/**
 * Archives closed segments beside the runs, as far as that failed when the next segment began.
 * Invariants: the rows of the store say what is to be archived, so that workers share the work and a restart goes
 * on with it; a try that fails ends the round, so that a server that is away is asked seldom; a worker that ends
 * waits for a try under way, but not for long.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { tryArchival, type Archiver } from '../activities/run/archive-history.js';
import type { Store } from '../store/store.js';

const EVERY_MS = 5_000;
const ROUND_MAX = 20;
/** How long a try under way may take to end when the worker does. */
const GRACE_MS = 3_000;

export interface ArchiverSettings extends Archiver {
  readonly store: Archiver['store'] & Pick<Store, 'dueArchivals'>;
  readonly namespace: string;
  /** Pause between two looks; default 5,000. */
  readonly everyMs?: number;
}

export interface RunningArchiver {
  /** Idempotent. */
  stop(): Promise<void>;
}

export function startArchiver(settings: ArchiverSettings): RunningArchiver {
  const ending = new AbortController();
  const loop = repeat(settings, ending.signal);
  return {
    async stop() {
      ending.abort();
      const late = new AbortController();
      await Promise.race([loop, pause(GRACE_MS, late.signal)]);
      late.abort();
    },
  };
}

async function repeat(settings: ArchiverSettings, signal: AbortSignal): Promise<void> {
  const { everyMs = EVERY_MS, tell } = settings;
  let isAway = false;
  while (!signal.aborted) {
    const failed = await round(settings, signal).then(
      () => false,
      () => true,
    );
    if (failed && !isAway && !signal.aborted) {
      tell('Archiving waits: the store does not answer. See holdfast doctor.', {});
    }
    isAway = failed;
    await pause(everyMs, signal);
  }
}

async function round(settings: ArchiverSettings, signal: AbortSignal): Promise<void> {
  const { store, namespace, clock } = settings;
  const due = await store.dueArchivals({ namespace, at: clock(), limit: ROUND_MAX });
  for (const name of due) {
    if (signal.aborted) return;
    if ((await tryArchival(settings, name)) === 'waiting') return;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}
