/**
 * B10, cold start: from the spawn of a worker process to its serving, and to the end of the first run, which
 * waits for it already. Both sides have their workflow bundle prebuilt.
 */
import type { MachineFacts } from './machine.js';
import { figureLines, figuresOf, measurePairs, type PairedFigures } from './pairs.js';
import { openPlace, type Place, type SideName } from './place.js';
import { oneCallScript, READ, type BenchOptions } from './setting.js';
import { RUNS_FROM_SOURCES } from './worker-process.js';
import { prebuiltBundle } from '../../worker/workflow-code.js';

export interface ColdStartOptions extends BenchOptions {
  readonly pairs: number;
}

export interface ColdStartReport {
  readonly machine: MachineFacts;
  readonly bundle: ReturnType<typeof prebuiltBundle>;
  readonly servingMs: PairedFigures;
  readonly firstRunMs: PairedFigures;
  /** Resident memory when it serves and has finished one run. */
  readonly rssMb: PairedFigures;
}

export async function benchColdStart(options: ColdStartOptions): Promise<ColdStartReport> {
  const { pairs, say } = options;
  const bundle = prebuiltBundle();
  if (RUNS_FROM_SOURCES) say('runs from sources: compiling them is part of these figures');
  if (bundle !== 'fresh')
    say(`the prebuilt bundle is ${bundle}: bundling is part of these figures`);
  const place = await openPlace({ ...options, script: oneCallScript(READ) });
  try {
    const starts = { bare: [] as Start[], held: [] as Start[] };
    const measure = (side: SideName) => async (pair: number) => {
      const start = await startOf(place, side, `cold-${side}-${pair}`);
      starts[side].push(start);
      return start.firstRunMs;
    };
    // The first start of each side reads its files from the disk.
    await measure('bare')(-1);
    await measure('held')(-1);
    const sides = { bare: measure('bare'), held: measure('held') };
    const firstRunMs = await measurePairs({ pairs, unit: 'ms', ...sides, say });
    const figure = (unit: string, of: (start: Start) => number): PairedFigures =>
      figuresOf(
        // Without the first start of each side.
        starts.held.slice(1).map((held, pair) => ({
          bare: of(starts.bare[pair + 1]!),
          held: of(held),
        })),
        unit,
      );
    const servingMs = figure('ms', (start) => start.servingMs);
    const rssMb = figure('MB', (start) => start.rssMb);
    const lines = [
      ...figureLines('spawn to serving', servingMs),
      ...figureLines('spawn to first run', firstRunMs),
      ...figureLines('resident memory', rssMb),
    ];
    for (const line of lines) say(line);
    return { machine: place.machine, bundle, servingMs, firstRunMs, rssMb };
  } finally {
    await place.stop();
  }
}

interface Start {
  readonly servingMs: number;
  readonly firstRunMs: number;
  readonly rssMb: number;
}

async function startOf(place: Place, side: SideName, runId: string): Promise<Start> {
  await place.start(side, runId);
  const began = performance.now();
  const worker = await place.spawn(side);
  await place.ended(side, runId);
  const firstRunMs = performance.now() - began;
  const rssMb = (await worker.rssBytes()) / 2 ** 20;
  await worker.kill();
  return { servingMs: worker.startMs, firstRunMs, rssMb };
}
