/** What dies during a trial, and when. Invariant: the seed decides how long each part lives and how long it is away. */
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom, type Random } from '../../testing/index.js';
import type { TrialOptions } from './options.js';
import type { Place } from './place.js';
import { restoreStore } from './restored.js';
import type { WorkerSlot } from './worker-slot.js';

export interface Faults {
  /** Kills so far, by what was killed. */
  readonly counts: Readonly<Record<'workers' | 'server' | 'database', number>>;
  /** All of them have happened that are counted. Errors: what kept a part from coming back. */
  readonly done: Promise<void>;
  /** Kills nothing more; resolves when no kill is under way. */
  stop(): Promise<void>;
}

export interface FaultSettings {
  readonly place: Place;
  readonly options: TrialOptions;
  readonly say: (line: string) => void;
}

const SECOND_MS = 1_000;
/** Between two kills of the server or the database. */
const BETWEEN_MS = { least: 8_000, most: 16_000 } as const;
const DOWN_MS_MAX = 3_000;
/** Of what a paused loop looks at. */
const POLL_MS = 100;
/** Of the runs, how many payments a worker makes when it is cut off. */
const CUT_OFF_SHARE = 0.05;
const LATE_WORDS_MS = 10_000;

export function startFaults({ place, options, say }: FaultSettings): Faults {
  const counts = { workers: 0, server: 0, database: 0 };
  const stop = new AbortController();
  const { signal } = stop;
  const random = seededRandom(options.seed, 3);
  const began = performance.now();
  const tell = (what: string): void =>
    say(`${((performance.now() - began) / SECOND_MS).toFixed(1).padStart(6)} s  ${what}`);
  const held = { workers: false };
  const workers = killWorkers({ place, options, signal, held }, () => (counts.workers += 1));
  const counted = (async () => {
    for (let kill = 0; kill < options.serverKills && (await lived(random, signal)); kill += 1) {
      tell('the server is killed');
      await place.server.crash(random() * DOWN_MS_MAX);
      counts.server += 1;
      tell('the server is back');
    }
    for (let kill = 0; kill < options.databaseKills && (await lived(random, signal)); kill += 1) {
      tell('the database crashes');
      await place.postgres!.crash(random() * DOWN_MS_MAX);
      counts.database += 1;
      tell('the database is back');
    }
    const { partition: seconds, runs } = options;
    if (seconds > 0) await cutOff(place, { seconds, runs, signal, tell });
    if (options.restored) await restoreStore(place, { runs, signal, tell, held });
  })();
  const all = Promise.all([workers, counted]);
  return {
    counts,
    done: counted,
    async stop() {
      stop.abort();
      await all;
    },
  };
}

/** Lets a part live for a while; false when the trial is over. */
async function lived(random: Random, signal: AbortSignal): Promise<boolean> {
  await pause(BETWEEN_MS.least + random() * (BETWEEN_MS.most - BETWEEN_MS.least), signal);
  return !signal.aborted;
}

interface Killing {
  readonly place: Place;
  readonly options: TrialOptions;
  readonly signal: AbortSignal;
  /** Nobody is killed while the workers are held. */
  readonly held: { workers: boolean };
}

/**
 * The worker that has served longest, when all of them serve: on a busy machine, where a start takes longer than the time
 * between two kills, nobody would live to do anything.
 */
async function killWorkers(
  { place, options, signal, held }: Killing,
  killed: () => void,
): Promise<void> {
  if (options.workerKillEvery === 0) return;
  while (!signal.aborted) {
    await pause(options.workerKillEvery * SECOND_MS, signal);
    while (
      !signal.aborted &&
      (held.workers || place.workers.some(({ pid }) => pid === undefined))
    ) {
      await pause(POLL_MS, signal);
    }
    if (signal.aborted) return;
    const [oldest] = place.workers.toSorted((a, b) => a.servingSince! - b.servingSince!);
    await oldest!.kill();
    killed();
  }
}

interface CutOff {
  readonly seconds: number;
  readonly runs: number;
  readonly signal: AbortSignal;
  readonly tell: (what: string) => void;
}

/** Cuts the first worker off while the payment service works for it. */
async function cutOff(place: Place, { seconds, runs, signal, tell }: CutOff): Promise<void> {
  const [worker] = place.workers as readonly [WorkerSlot];
  while (!signal.aborted) {
    const busy = worker.pid === undefined ? 0 : await place.service.busyWith(worker.pid);
    if (busy >= Math.max(1, runs * CUT_OFF_SHARE)) {
      for (const proxy of place.proxies) proxy.stall();
      tell(`${worker.name} is cut off with ${busy} payments under way`);
      break;
    }
    await pause(POLL_MS, signal);
  }
  await pause(seconds * SECOND_MS, signal);
  for (const proxy of place.proxies) proxy.restore();
  tell(`${worker.name} is connected again`);
  // What it has kept to say is said now, and must change nothing.
  await pause(LATE_WORDS_MS, signal);
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
