/**
 * Which of the changes that no case noticed do tests of the core notice? One process in which each test file
 * notes the changes that would have made a difference to it; then a few that run such files once per change.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Of the files in which a change makes a difference: so many, then up to so many. */
const ROUNDS = [1, 4, 12] as const;
const LIMIT_MS = 1_800_000;

/** By change: the test file that noticed it. */
export function testAll(folder: string, ids: readonly number[]): ReadonlyMap<number, string> {
  const noticed = new Map<number, string>();
  if (ids.length === 0) return noticed;
  writeFileSync(join(folder, 'jest.mutants.cjs'), CONFIG);
  writeFileSync(join(folder, 'until-one-fails.cjs'), ENVIRONMENT);
  const files = filesThatDiffer(folder);
  let from = 0;
  for (const to of ROUNDS) {
    const runs = ids
      .filter((id) => !noticed.has(id))
      .flatMap((id) =>
        filesOf(files, id)
          .slice(from, to)
          .map((path): Run => ({ id, path })),
      );
    for (const run of runsThatFail(folder, runs)) noticed.set(run.id, relative(folder, run.path));
    from = to;
  }
  return noticed;
}

/** Most changes are noticed by the first files; only what they miss is run with more of them. */
function runsThatFail(folder: string, runs: readonly Run[]): readonly Run[] {
  if (runs.length === 0) return [];
  const below = join(folder, 'test', 'core', 'mutants');
  rmSync(below, { recursive: true, force: true });
  mkdirSync(below, { recursive: true });
  for (const [index, { id, path }] of runs.entries()) {
    const from = relative(below, path).replace(/\.ts$/, '');
    const file = join(below, `${index}.test.ts`);
    writeFileSync(file, `process.env.MUTANT = '${id}';\nrequire('${from}');\n`);
  }
  return failuresOf(jest(folder, 'core/mutants/', {})).flatMap(
    (file) => runs[Number(/(\d+)\.test\.ts$/.exec(file)?.[1])] ?? [],
  );
}

interface Run {
  readonly id: number;
  readonly path: string;
}

type Noted = readonly (readonly [path: string, changes: ReadonlySet<number>])[];

/** Test files with the changes that made a difference to them. Files that fail without a change prove nothing. */
function filesThatDiffer(folder: string): Noted {
  const notes = join(folder, 'notes.txt');
  writeFileSync(notes, '');
  const failing = new Set(failuresOf(jest(folder, 'test/core/', { MUTANT_NOTES: notes })));
  const noted = new Map<string, Set<number>>();
  for (const line of readFileSync(notes, 'utf8').split('\n')) {
    const [id, path] = line.split('\t');
    if (path === undefined || path === '' || failing.has(path)) continue;
    noted.set(path, (noted.get(path) ?? new Set()).add(Number(id)));
  }
  return [...noted];
}

/** The ones that few changes made a difference to come first: they are about this one. */
function filesOf(files: Noted, id: number): readonly string[] {
  return files
    .filter(([, changes]) => changes.has(id))
    .toSorted(([, a], [, b]) => a.size - b.size)
    .map(([path]) => path);
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
  testEnvironment: '<rootDir>/until-one-fails.cjs',
  testTimeout: 10000,
};
`;

/** A file whose first test failed has noticed; the rest of it would only wait for what never comes. */
const ENVIRONMENT = `const OneContext = require('./test/one-context.cjs');
module.exports = class UntilOneFails extends OneContext {
  handleTestEvent(event) {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.failed = true;
    if (event.name === 'test_start' && this.failed) event.test.mode = 'skip';
  }
};
`;
