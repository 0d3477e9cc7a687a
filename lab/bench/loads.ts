/** Some runs at once on worker processes of their own: how long they take, and how long the processor works for them. */
import type { BareInput } from './bare/loop.js';
import { parked } from './gate.js';
import { fixedSizes } from './message-sizes.js';
import { openPlace, queueOf, type Place, type SideName } from './place.js';
import {
  GOAL,
  oneCallScript,
  PAY,
  QUICK_READER,
  READER,
  turnScript,
  type BenchOptions,
} from './setting.js';
import type { StoreSync } from '../../store/store.js';
import type { Script } from '../../testing/index.js';
import type { BenchWorker } from './worker-process.js';

/** Whose turns: bare loops with the tool as an activity and as a local one; ours with an ordinary and with a quick read. */
export const LOADS = ['bare', 'local', 'held', 'quick'] as const;
export type LoadName = (typeof LOADS)[number];

export interface Load {
  /** At once. */
  readonly runs: number;
  /** Of each run. */
  readonly turns: number;
  /** Distinguishes the loads of one bench. */
  readonly label: string;
}

export interface LoadFigures {
  readonly runsPerSecond: number;
  /** Processor time (user and system) of the worker's process, all of its threads, ms. */
  readonly cpuMsPerTurn: number;
}

export interface LoadedPlace {
  readonly place: Place;
  measure(name: LoadName, load: Load): Promise<LoadFigures>;
  /** Starts runs of both sides that wait for a person, some at once. */
  park(count: number): Promise<void>;
}

export interface LoadedOptions extends BenchOptions {
  /** Of Holdfast: a URL of PostgreSQL; default: a file of SQLite. */
  readonly store?: string;
  /** Of a file; with the variables of its worker. */
  readonly storeSync?: StoreSync;
  readonly workerVariables?: Readonly<Record<string, string>>;
}

/** A typical recorded result. */
const RESULT_BYTES = 500;
const WAITING = 'waiting';
const STARTS_AT_ONCE = 20;

export async function openLoadedPlace(options: LoadedOptions): Promise<LoadedPlace> {
  const place = await openPlace({
    ...options,
    ...(options.store !== undefined && { storePlace: options.store }),
    script: script(),
  });
  const workers = { bare: await place.spawn('bare'), held: await place.spawn('held') };
  return {
    place,
    measure: (name, load) => measured(place, workers[sideOf(name)], { name, ...load }),
    async park(count) {
      for (const side of ['bare', 'held'] as const) await parkMany(place, side, count);
    },
  };
}

function script(): Script {
  const turns = turnScript(fixedSizes({ replyBytes: 0, resultBytes: RESULT_BYTES }));
  const waits = oneCallScript(PAY);
  return (request) => (request.runId.startsWith(WAITING) ? waits(request) : turns(request));
}

function sideOf(name: LoadName): SideName {
  return name === 'bare' || name === 'local' ? 'bare' : 'held';
}

async function measured(
  place: Place,
  worker: BenchWorker,
  { name, ...load }: Load & { readonly name: LoadName },
): Promise<LoadFigures> {
  const { runs, turns } = load;
  const cpuBefore = await worker.cpuMs();
  const began = performance.now();
  await Promise.all(idsOf(name, load).map((id) => played(place, name, { id, turns })));
  const seconds = (performance.now() - began) / 1_000;
  const cpuMs = (await worker.cpuMs()) - cpuBefore;
  return { runsPerSecond: runs / seconds, cpuMsPerTurn: cpuMs / (runs * turns) };
}

/** The runs of one load. */
export function idsOf(name: LoadName, { runs, turns, label }: Load): readonly string[] {
  return Array.from({ length: runs }, (_, run) => `bench-${name}-t${turns}-${label}-${run}`);
}

interface OneRun {
  readonly id: string;
  readonly turns: number;
}

async function played(place: Place, name: LoadName, { id, turns }: OneRun): Promise<void> {
  const side = sideOf(name);
  if (side === 'held') {
    const agent = name === 'quick' ? QUICK_READER : READER;
    await place.holdfast.start({ agent, task: { goal: GOAL }, runId: id, wait: false });
    return place.ended(side, id);
  }
  const input: BareInput = {
    run: id,
    passes: 'delta',
    goal: GOAL,
    turnsMax: turns,
    ...(name === 'local' && { localTool: true as const }),
  };
  const taskQueue = queueOf(side);
  await place.client.workflow.execute('bareLoop', { workflowId: id, taskQueue, args: [input] });
}

export async function parkMany(place: Place, side: SideName, count: number): Promise<void> {
  for (let from = 0; from < count; from += STARTS_AT_ONCE) {
    const some = Array.from({ length: Math.min(STARTS_AT_ONCE, count - from) }, async (_, n) => {
      const runId = `${WAITING}-${side}-${from + n}`;
      await place.start(side, runId);
      await parked(place, side, runId);
    });
    await Promise.all(some);
  }
}
