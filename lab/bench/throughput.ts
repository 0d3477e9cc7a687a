/**
 * B12, throughput: runs of some turns at once, beside bare loops, on SQLite or PostgreSQL, also while others wait for a
 * person's word. Processor seconds of a turn beside it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../devserver/ports.js';
import { startPostgres } from '../chaos/postgres.js';
import { idsOf, openLoadedPlace, type LoadFigures, type LoadName } from './loads.js';
import type { MachineFacts } from './machine.js';
import { figureLines, figuresOf, type PairedFigures } from './pairs.js';
import { playRound } from './processor.js';
import { quickShareOf, type QuickShare } from './quick-share.js';
import type { BenchOptions } from './setting.js';

export interface ThroughputOptions extends BenchOptions {
  readonly pairs: number;
  readonly turns: number;
  /** Runs at once, a measurement for each. */
  readonly atOnce: readonly number[];
  /** Runs of each side that wait meanwhile. */
  readonly parked: number;
  /** Of Holdfast: a URL of PostgreSQL; default: a file of SQLite. */
  readonly store?: string;
  /** The store is on a server that is there for the bench alone. */
  readonly postgres?: true;
}

export interface ThroughputRow {
  readonly atOnce: number;
  /** Runs per second. */
  readonly ordinary: PairedFigures;
  readonly quick: PairedFigures;
  readonly quickBesideLocal: PairedFigures;
  /** ms of processor time per turn of the worker's process. */
  readonly ordinaryCpu: PairedFigures;
  readonly quickCpu: PairedFigures;
  /** The rest of the quick reads began later than 5 s after the effect before them. */
  readonly quickReads: QuickShare;
}

export interface ThroughputReport {
  readonly machine: MachineFacts;
  readonly turns: number;
  readonly parked: number;
  readonly rows: readonly ThroughputRow[];
}

export async function benchThroughput(options: ThroughputOptions): Promise<ThroughputReport> {
  if (options.postgres === undefined) return measureAll(options);
  // Not in the folder of the bench: PostgreSQL refuses to run as root, and its own account has to reach it.
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-postgres-'));
  const postgres = await startPostgres(folder, await freePort());
  try {
    return await measureAll({ ...options, store: postgres.url });
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureAll(options: ThroughputOptions): Promise<ThroughputReport> {
  const { turns, atOnce, parked, say } = options;
  const { place, measure, park } = await openLoadedPlace(options);
  try {
    for (const name of ['bare', 'local', 'held', 'quick'] as const) {
      await measure(name, { runs: 10, turns, label: 'warm' });
    }
    await park(parked);
    const rows: ThroughputRow[] = [];
    for (const runs of atOnce) {
      const rounds: Awaited<ReturnType<typeof playRound>>[] = [];
      const ids: string[] = [];
      for (let pair = 0; pair < options.pairs; pair += 1) {
        const load = { runs, turns, label: `n${runs}-p${pair}` };
        rounds.push(await playRound(measure, load));
        ids.push(...idsOf('quick', load));
      }
      const row = { ...rowOf(runs, rounds), quickReads: await quickShareOf(place, ids) };
      for (const line of linesOf(row, parked)) say(line);
      rows.push(row);
    }
    return { machine: place.machine, turns, parked, rows };
  } finally {
    await place.stop();
  }
}

type Rounds = readonly Readonly<Record<LoadName, LoadFigures>>[];

function rowOf(atOnce: number, rounds: Rounds): Omit<ThroughputRow, 'quickReads'> {
  const of = (figure: keyof LoadFigures, bare: LoadName, held: LoadName) =>
    figuresOf(
      rounds.map((round) => ({ bare: round[bare][figure], held: round[held][figure] })),
      figure === 'runsPerSecond' ? 'runs per second' : 'ms of processor time per turn',
    );
  return {
    atOnce,
    ordinary: of('runsPerSecond', 'bare', 'held'),
    quick: of('runsPerSecond', 'bare', 'quick'),
    quickBesideLocal: of('runsPerSecond', 'local', 'quick'),
    ordinaryCpu: of('cpuMsPerTurn', 'bare', 'held'),
    quickCpu: of('cpuMsPerTurn', 'bare', 'quick'),
  };
}

function linesOf(row: ThroughputRow, parked: number): readonly string[] {
  const { within, ordinary } = row.quickReads;
  const beside = parked > 0 ? `, ${parked} parked` : '';
  const what = `${row.atOnce} at once${beside}`;
  return [
    ...figureLines(`${what}, ordinary read`, row.ordinary),
    ...figureLines(`${what}, quick read`, row.quick),
    ...figureLines(`${what}, quick read beside a local activity`, row.quickBesideLocal),
    ...figureLines(`${what}, ordinary read`, row.ordinaryCpu),
    ...figureLines(`${what}, quick read`, row.quickCpu),
    `${what}: ${within} of ${within + ordinary} quick reads tried within the task that decided`,
  ];
}
