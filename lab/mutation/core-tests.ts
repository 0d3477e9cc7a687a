/**
 * Which of the changes that no case noticed do tests of the core notice? Two processes in all: one in which each test file
 * notes the changes that would have made a difference to it, and one that runs such a file once per change.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Files in which a change made a difference, the ones that few changes did first. */
const FILES_MAX = 8;
const LIMIT_MS = 1_800_000;

/** By change: the test file that noticed it. */
export function testAll(folder: string, ids: readonly number[]): ReadonlyMap<number, string> {
  writeFileSync(join(folder, 'jest.mutants.cjs'), CONFIG);
  const runs = orderedRuns(folder, ids);
  const below = join(folder, 'test', 'core', 'mutants');
  mkdirSync(below, { recursive: true });
  for (const [index, { id, path }] of runs.entries()) {
    const from = relative(below, path).replace(/\.ts$/, '');
    writeFileSync(
      join(below, `${index}.test.ts`),
      `process.env.MUTANT = '${id}';\nrequire('${from}');\n`,
    );
  }
  const noticed = new Map<number, string>();
  if (runs.length === 0) return noticed;
  for (const file of failuresOf(jest(folder, 'core/mutants/', {}))) {
    const run = runs[Number(/(\d+)\.test\.ts$/.exec(file)?.[1])];
    if (run !== undefined) noticed.set(run.id, relative(folder, run.path));
  }
  return noticed;
}

interface Run {
  readonly id: number;
  readonly path: string;
}

/** Files that fail without a change prove nothing. */
function orderedRuns(folder: string, ids: readonly number[]): readonly Run[] {
  const notes = join(folder, 'notes.txt');
  rmSync(notes, { force: true });
  writeFileSync(notes, '');
  const failing = new Set(failuresOf(jest(folder, 'test/core/', { MUTANT_NOTES: notes })));
  const noted = new Map<string, Set<number>>();
  for (const line of readFileSync(notes, 'utf8').split('\n')) {
    const [id, path] = line.split('\t');
    if (path === undefined || path === '' || failing.has(path)) continue;
    noted.set(path, (noted.get(path) ?? new Set()).add(Number(id)));
  }
  const files = [...noted].toSorted(([, a], [, b]) => a.size - b.size);
  return ids.flatMap((id) => {
    const own = files.filter(([, changes]) => changes.has(id)).slice(0, FILES_MAX);
    return own.map(([path]) => ({ id, path }));
  });
}

interface JestReport {
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
}

function failuresOf({ testResults }: JestReport): readonly string[] {
  return testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
}

function jest(folder: string, pattern: string, env: NodeJS.ProcessEnv): JestReport {
  const report = join(folder, 'jest.json');
  rmSync(report, { force: true });
  spawnSync(
    process.execPath,
    [
      'node_modules/jest/bin/jest.js',
      '--config=jest.mutants.cjs',
      '--runInBand',
      '--ci',
      '--json',
      `--outputFile=${report}`,
      `--testPathPatterns=${pattern}`,
    ],
    {
      cwd: folder,
      stdio: 'ignore',
      env: { ...process.env, HOLDFAST_SEED: '1', ...env },
      maxBuffer: OUTPUT_BYTES_MAX,
      timeout: LIMIT_MS,
    },
  );
  return JSON.parse(readFileSync(report, 'utf8')) as JestReport;
}

/** What tests of the core need: no server, no compiled sources. */
const CONFIG = `const whole = require('./jest.config.cjs');
module.exports = {
  ...whole,
  globalSetup: undefined,
  globalTeardown: undefined,
  testSequencer: undefined,
  reporters: [],
  testTimeout: 30000,
};
`;
