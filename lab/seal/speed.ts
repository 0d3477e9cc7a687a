/**
 * The speed gate: a turn of this commit beside a turn of BASE, in interleaved pairs, each measured against the bare loop
 * of the same run, so that a slow machine slows both.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../bench/statistics.js';
import type { TurnReport } from '../bench/turn.js';
import { requireBase, run, sourcesOf } from './base-commit.js';
import { ROOT } from './kept-histories.js';
import { reachOf, type Ratios } from './reach.js';

/** A turn may take so much of what it takes in BASE. */
export const SLOWER_MOST = 1.08;
const PAIRS = 3;
/** Measured again before it is believed: a moment of a busy machine is no change of the code. */
const ROUNDS_MAX = 3;
const TURNS = 100;

export async function slowdown(say: (line: string) => void): Promise<number> {
  const commit = requireBase();
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-speed-'));
  try {
    const base = sourcesOf(commit, folder);
    run('node', ['build.cjs', '--lab'], base);
    run('node', ['build.cjs', '--lab', '--if-stale'], ROOT);
    for (let round = 1; ; round += 1) {
      const ratios = measureRound({ base, here: ROOT }, folder, say);
      const slower = median(ratios.here) / median(ratios.base);
      if (slower <= SLOWER_MOST || round === ROUNDS_MAX) return slower;
      say(`${slower.toFixed(3)} of BASE is above ${SLOWER_MOST}: measured again`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measureRound(places: Places, folder: string, say: (line: string) => void): Ratios {
  const ratios: Record<Side, number[]> = { base: [], here: [] };
  for (let pair = 0; pair < PAIRS && !isDecided(ratios); pair += 1) {
    measurePair(places, { ratios, hereFirst: pair % 2 === 1, folder });
    const [of, is] = [ratios.base.at(-1)!, ratios.here.at(-1)!];
    say(`of the bare loop: BASE ${of.toFixed(3)}, this commit ${is.toFixed(3)}`);
  }
  return ratios;
}

/** Whatever the pairs that are left would show, the round says the same. */
function isDecided(ratios: Ratios): boolean {
  const { least, most } = reachOf(ratios, PAIRS);
  return most <= SLOWER_MOST || least > SLOWER_MOST;
}

const SIDES = ['base', 'here'] as const;
type Side = (typeof SIDES)[number];
type Places = { readonly [side in Side]: string };

interface PairPlan {
  readonly ratios: Record<Side, number[]>;
  readonly hereFirst: boolean;
  readonly folder: string;
}

function measurePair(places: Places, { ratios, hereFirst, folder }: PairPlan): void {
  for (const side of hereFirst ? SIDES.toReversed() : SIDES) {
    ratios[side].push(turnRatio(places[side], folder));
  }
}

/** Where commits have it, the newest first. */
const BENCHES = ['build/lab/bench/main.js', 'dist/lab/bench/main.js'];
/** Of commits that measure more than an ordinary turn. */
const ALONE = '--ordinary';

/** A turn in the built code of a folder, as a multiple of the bare loop beside it. */
function turnRatio(place: string, folder: string): number {
  const file = join(folder, 'turn.json');
  const bench = BENCHES.map((path) => join(place, path)).find((path) => existsSync(path));
  if (bench === undefined) throw new Error(`${place} has no bench: build it`);
  const hasMore = run('node', [bench, 'turn', '--help'], place).includes(ALONE);
  const options = ['--pairs', '1', '--turns', `${TURNS}`, '--json', file];
  run('node', [bench, 'turn', ...options, ...(hasMore ? [ALONE] : [])], place);
  const { msPerTurn } = JSON.parse(readFileSync(file, 'utf8')) as TurnReport;
  return msPerTurn.ratio.median;
}
