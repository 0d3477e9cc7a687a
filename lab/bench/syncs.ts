/**
 * B15, a slow disk: runs at once on a store each of whose commits syncs by itself, and on one whose calls share syncs. The
 * disk of both workers takes a given time for a sync.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreSync } from '../../store/store.js';
import { openLoadedPlace, type LoadedPlace, type LoadFigures } from './loads.js';
import type { MachineFacts } from './machine.js';
import { spreadOf, spreadText, type Spread } from './pairs.js';
import type { BenchOptions } from './setting.js';
import { slowDisk } from './slow-disk/slow-disk.js';

export interface SyncsOptions extends BenchOptions {
  readonly pairs: number;
  readonly turns: number;
  /** Runs at once, a measurement for each. */
  readonly atOnce: readonly number[];
  /** What a sync takes longer than on the disk that there is, ms. */
  readonly syncMs: number;
}

export interface SyncsRow {
  readonly atOnce: number;
  readonly runsPerSecond: { readonly [sync in StoreSync]: Spread };
  /** Of each pair by itself: shared divided by each. */
  readonly ratio: Spread;
}

export interface SyncsReport {
  readonly machine: MachineFacts;
  readonly syncMs: number;
  readonly turns: number;
  readonly rows: readonly SyncsRow[];
}

type Places = { readonly [sync in StoreSync]: LoadedPlace };

const SYNCS = ['each', 'shared'] as const;
const WARM_RUNS = 10;

export async function benchSyncs(options: SyncsOptions): Promise<SyncsReport> {
  const { syncMs, turns, say } = options;
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-slow-disk-'));
  const opened: { [sync in StoreSync]?: LoadedPlace } = {};
  try {
    const workerVariables = await slowDisk(folder, syncMs);
    for (const storeSync of SYNCS)
      opened[storeSync] = await openLoadedPlace({ ...options, storeSync, workerVariables });
    const places = opened as Places;
    const warm = { runs: WARM_RUNS, turns, label: 'warm' };
    for (const sync of SYNCS) await places[sync].measure('held', warm);
    const rows: SyncsRow[] = [];
    for (const atOnce of options.atOnce) {
      const row = await rowOf(options, places, atOnce);
      for (const line of linesOf(row, syncMs)) say(line);
      rows.push(row);
    }
    return { machine: places.each.place.machine, syncMs, turns, rows };
  } finally {
    for (const sync of SYNCS) await opened[sync]?.place.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type Pair = { readonly [sync in StoreSync]: LoadFigures };

async function rowOf(
  { pairs, turns, say }: SyncsOptions,
  places: Places,
  atOnce: number,
): Promise<SyncsRow> {
  const measured: Pair[] = [];
  for (let index = 0; index < pairs; index += 1) {
    const load = { runs: atOnce, turns, label: `n${atOnce}-p${index}` };
    // Whoever goes first finds the machine as the other left it: take turns.
    const [first, second] = index % 2 === 0 ? SYNCS : SYNCS.toReversed();
    const figures = {
      [first!]: await places[first!].measure('held', load),
      [second!]: await places[second!].measure('held', load),
    } as unknown as Pair;
    say(
      `pair ${index + 1}: ${SYNCS.map((sync) => `${sync} ${speedOf(figures, sync)}`).join(', ')}`,
    );
    measured.push(figures);
  }
  const speeds = (sync: StoreSync) => measured.map((pair) => pair[sync].runsPerSecond);
  return {
    atOnce,
    runsPerSecond: { each: spreadOf(speeds('each')), shared: spreadOf(speeds('shared')) },
    ratio: spreadOf(measured.map(({ each, shared }) => shared.runsPerSecond / each.runsPerSecond)),
  };
}

function speedOf(figures: Pair, sync: StoreSync): string {
  return `${figures[sync].runsPerSecond.toFixed(2)} runs per second`;
}

function linesOf({ atOnce, runsPerSecond, ratio }: SyncsRow, syncMs: number): readonly string[] {
  const what = `${atOnce} at once, a sync takes ${syncMs} ms longer`;
  const speeds = SYNCS.map((sync) => `${sync} ${spreadText(runsPerSecond[sync])}`);
  return [`${what}: ${speeds.join(', ')} runs per second`, `${what}: ratio ${spreadText(ratio)}`];
}
