/**
 * Archives closed segments beside the runs, as far as that failed when the next segment began.
 * Invariants: the rows of the store say what is to be archived, so that workers share the work and a restart goes
 * on with it; a try that fails ends the round, so that a server that is away is asked seldom; a worker that ends
 * waits for a try under way, but not for long.
 */
import { tryArchival, type Archiver } from '../activities/run/archive-history.js';
import type { Store } from '../store/store.js';
import { startRounds, type RunningRounds } from './rounds.js';

const EVERY_MS = 5_000;
const ROUND_MAX = 20;

export interface ArchiverSettings extends Archiver {
  readonly store: Archiver['store'] & Pick<Store, 'dueArchivals'>;
  readonly namespace: string;
  /** Pause between two looks; default 5,000. */
  readonly everyMs?: number;
}

export function startArchiver(settings: ArchiverSettings): RunningRounds {
  const { everyMs = EVERY_MS, tell } = settings;
  return startRounds({
    everyMs,
    round: (signal) => round(settings, signal),
    away: 'Archiving waits: the store does not answer. See holdfast doctor.',
    tell,
  });
}

async function round(settings: ArchiverSettings, signal: AbortSignal): Promise<void> {
  const { store, namespace, clock } = settings;
  const due = await store.dueArchivals({ namespace, at: clock(), limit: ROUND_MAX });
  for (const name of due) {
    if (signal.aborted) return;
    if ((await tryArchival(settings, name)) === 'waiting') return;
  }
}
