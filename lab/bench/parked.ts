/**
 * B6, parked runs: resident memory of the worker for each run that waits for a person, against a bare
 * workflow that waits for a signal with the same conversation in its state. Cached, and evicted.
 * The garbage of the workflows' own thread cannot be collected from outside: few runs measure little.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parked, type Approve } from './gate.js';
import type { MachineFacts } from './machine.js';
import { figureLines, figuresOf, measurePairs, type PairedFigures } from './pairs.js';
import { openPlace, type Place, type SideName } from './place.js';
import { oneCallScript, PAY, type BenchOptions } from './setting.js';
import type { BenchWorker } from './worker-process.js';

export interface ParkedOptions extends BenchOptions {
  readonly pairs: number;
  readonly runs: number;
}

export interface ParkedReport {
  readonly machine: MachineFacts;
  readonly runs: number;
  readonly transcriptBytes: number;
  readonly cachedKb: PairedFigures;
  readonly evictedKb: PairedFigures;
  /** From the first signal to the end of the last run, with everything cached. */
  readonly wakeAllMs: PairedFigures;
}

const TRANSCRIPT_BYTES = 20_000;
const AT_ONCE = 20;
/** Runs before the first figure: what a worker needs once is not counted. */
const WARM_RUNS = 20;
const SETTLE_MS = 1_500;
/** The fewest that the SDK keeps when it is told to keep few. */
const EVICTING_CACHE = 10;

export async function benchParked(options: ParkedOptions): Promise<ParkedReport> {
  const { pairs, runs, say } = options;
  const place = await openPlace({ ...options, script: oneCallScript(PAY) });
  const bench = { place, runs, wakes: { bare: [], held: [] } };
  try {
    const measure = (cache: 'cached' | 'evicted') =>
      measurePairs({
        pairs,
        unit: 'KB per run',
        bare: (pair) => growthOf(bench, 'bare', `${cache}-${pair}`),
        held: (pair) => growthOf(bench, 'held', `${cache}-${pair}`),
        say,
      });
    say('cached');
    const cachedKb = await measure('cached');
    const wakeAllMs = wakeFigures(bench);
    say('evicted');
    const evictedKb = await measure('evicted');
    const lines = [
      ...figureLines('cached', cachedKb),
      ...figureLines('evicted', evictedKb),
      ...figureLines(`waking all ${runs}`, wakeAllMs),
    ];
    for (const line of lines) say(line);
    return {
      machine: place.machine,
      runs,
      transcriptBytes: TRANSCRIPT_BYTES,
      cachedKb,
      evictedKb,
      wakeAllMs,
    };
  } finally {
    await place.stop();
  }
}

interface Bench {
  readonly place: Place;
  readonly runs: number;
  readonly wakes: { readonly bare: number[]; readonly held: number[] };
}

/** Resident memory that each parked run adds, in KB. */
async function growthOf(bench: Bench, side: SideName, label: string): Promise<number> {
  const { place, runs } = bench;
  const cached = label.startsWith('cached');
  const maxCachedWorkflows = cached ? runs + 2 * WARM_RUNS : EVICTING_CACHE;
  const worker = await place.spawn(side, { maxCachedWorkflows });
  const warm = await parkMany(place, side, { label: `warm-${label}`, count: WARM_RUNS });
  const before = await settledRss(worker);
  const approvals = await parkMany(place, side, { label, count: runs });
  const after = await settledRss(worker);
  if (cached) bench.wakes[side].push(await wakeAll(place, side, [...warm, ...approvals]));
  await worker.kill();
  return (after - before) / 1_024 / runs;
}

async function settledRss(worker: BenchWorker): Promise<number> {
  await sleep(SETTLE_MS);
  await worker.rssBytes();
  await sleep(SETTLE_MS);
  return worker.rssBytes();
}

interface Parked {
  readonly runId: string;
  readonly approve: Approve;
}

async function parkMany(
  place: Place,
  side: SideName,
  { label, count }: { readonly label: string; readonly count: number },
): Promise<readonly Parked[]> {
  const goal = 'x'.repeat(TRANSCRIPT_BYTES);
  const all: Parked[] = [];
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, async (_, n) => {
      const runId = `parked-${side}-${label}-${from + n}`;
      await place.start(side, runId, { goal });
      return { runId, approve: await parked(place, side, runId) };
    });
    all.push(...(await Promise.all(some)));
  }
  return all;
}

async function wakeAll(place: Place, side: SideName, runs: readonly Parked[]): Promise<number> {
  const began = performance.now();
  for (let from = 0; from < runs.length; from += AT_ONCE) {
    await Promise.all(runs.slice(from, from + AT_ONCE).map(({ approve }) => approve()));
  }
  await Promise.all(runs.map(({ runId }) => place.ended(side, runId)));
  return performance.now() - began;
}

function wakeFigures({ wakes }: Bench): PairedFigures {
  const pairs = wakes.held.map((held, pair) => ({ held, bare: wakes.bare[pair]! }));
  return figuresOf(pairs, 'ms');
}
