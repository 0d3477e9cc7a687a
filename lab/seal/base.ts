/**
 * Fresh histories by the release that the project is held to: the package of the commit that histories/BASE names,
 * installed elsewhere and driven through its own command.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { arbitraryCase } from '../exploration/arbitrary-case.js';
import { briskCase } from '../exploration/brisk-case.js';
import { reportLines } from '../../replay/report-text.js';
import { replayRunsOf } from '../../replay/strict-replay.js';
import { git, requireBase } from './base-commit.js';
import { installed, packed } from './base-package.js';
import { bundlesIn } from './candidates.js';
import { linesOf, manifestOf, manifestPath } from './kept-histories.js';

export interface FreshReplay {
  readonly random: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

export interface FreshReplays {
  readonly replayed: number;
  readonly different: readonly string[];
}

/** Lines of BASE's MANIFESTs that are no longer there. */
export function alteredSinceBase(): readonly string[] {
  const commit = requireBase();
  const paths = git('ls-tree', '-r', '--name-only', commit, 'histories').split('\n');
  return paths.flatMap((path) => {
    const rules = Number(/^histories\/rules-(\d+)\/MANIFEST$/.exec(path)?.[1] ?? Number.NaN);
    if (Number.isNaN(rules)) return [];
    const now = new Set(manifestOf(rules));
    const before = linesOf(git('show', `${commit}:${manifestPath(rules)}`));
    return before.filter((line) => !now.has(line)).map((line) => `${path}: ${line}`);
  });
}

export async function replayFromBase({ random, seed, say }: FreshReplay): Promise<FreshReplays> {
  const commit = requireBase();
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-base-'));
  try {
    say(`packing ${commit.slice(0, 12)}`);
    const project = installed(packed(folder, commit), folder);
    const cases = join(folder, 'cases');
    writeCases(cases, { random, seed });
    const bundles = join(folder, 'bundles');
    mkdirSync(bundles);
    say(`playing ${random} random cases with it`);
    const told = await play(project, { cases, bundles, seed });
    const candidates = await bundlesIn(bundles);
    const different: string[] = [];
    let replayed = 0;
    for await (const report of replayRunsOf(candidates.map(({ bundle }) => bundle))) {
      replayed += 1;
      if (!report.equal) different.push(...reportLines(report));
    }
    if (replayed < random * PLAYED_LEAST) {
      different.push(
        `only ${replayed} of ${random} cases left a history; the command said:\n${told}`,
      );
    }
    return { replayed, different };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeCases(folder: string, { random, seed }: Pick<FreshReplay, 'random' | 'seed'>): void {
  mkdirSync(folder);
  const documents = fc.sample(arbitraryCase.map(briskCase), { seed, numRuns: random });
  for (const [number, document] of documents.entries()) {
    const named = { ...document, case_id: `fresh-${seed}-${number}` };
    writeFileSync(join(folder, `${number}.json`), JSON.stringify(named));
  }
}

interface Playing {
  readonly cases: string;
  readonly bundles: string;
  readonly seed: number;
}

/** Of so many cases that were played at least this share must have left a history. */
export const PLAYED_LEAST = 0.3;
const PLAY_LIMIT_MS = 15 * 60_000;
const TOLD_CHARS = 2_000;

/** Cases that expect nothing may be skipped or fail: only what is recorded counts. Gives what it said. */
function play(project: string, { cases, bundles, seed }: Playing): Promise<string> {
  const command = join(project, 'node_modules', '.bin', 'holdfast');
  const options = ['--engine', 'temporal', '--seed', `${seed}`, '--bundles', bundles];
  return new Promise((resolve, reject) => {
    const child = spawn(command, ['eval', cases, ...options], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: PLAY_LIMIT_MS,
    });
    let told = '';
    const take = (data: Buffer): void => {
      told = (told + data.toString('utf8')).slice(-TOLD_CHARS);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', reject).once('close', () => resolve(told));
  });
}
