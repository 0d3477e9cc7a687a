/**
 * Runs the fixtures against a copy of the sources in which one place is changed.
 * Invariant: the working tree is never touched; the copy is removed even after Ctrl-C.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Mutation {
  readonly name: string;
  /** From the root of the project. */
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

export type Judgement =
  /** Some case failed, or the fixtures did not even load. */
  | { readonly kind: 'killed'; readonly by: string }
  | { readonly kind: 'survived' }
  /** The place to change is gone: the mutation itself must be mended. */
  | { readonly kind: 'unmatched'; readonly times: number };

export interface Judge {
  judge(mutation: Mutation): Promise<Judgement>;
}

/** A copy of the sources, removed by whoever made it. */
export interface Copy {
  readonly folder: string;
  remove(): void;
}

const FILES = [
  'package.json',
  'tsconfig.json',
  'index.ts',
  'jest.config.cjs',
  'lab/mutation',
  'lab/seal/case-commands.ts',
  'test',
] as const;
/** No case and no test of the core comes by the rest of it. */
const LEFT_OUT: readonly string[] = ['lab'];
/** Longest wait for all fixtures, beside whatever else the machine does. */
const LIMIT_MS = 600_000;
/** They take about 25 s of a processor; what takes so much more goes round for ever. */
const PROCESSOR_SECONDS_MAX = 120;
const BOUND = `ulimit -t ${PROCESSOR_SECONDS_MAX} && exec "$@"`;
const OUTPUT_CHARS_MAX = 20_000;
/** Few cases have it in their names. */
const SMALL = 'S18';

export function copySources(root: string): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-mutation-'));
  for (const name of [...foldersOf(root), ...FILES]) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The folders that are compiled, as the compiler is told. */
function foldersOf(root: string): readonly string[] {
  const text = readFileSync(join(root, 'tsconfig.json'), 'utf8');
  const { include } = JSON.parse(text) as { readonly include: readonly string[] };
  return include.filter((name) => !name.includes('*') && !LEFT_OUT.includes(name));
}

/** One judge for each copy. They share what they know of cases without a change. */
export function createJudges(copies: readonly Copy[]): readonly Judge[] {
  const passes: Passes = new Map();
  return copies.map(({ folder }) => judgeIn(folder, passes));
}

/** By case: whether it passes without a change. */
type Passes = Map<string, boolean>;

function judgeIn(folder: string, passes: Passes): Judge {
  return {
    async judge({ file, find, replace }) {
      const path = join(folder, file);
      const original = readFileSync(path, 'utf8');
      const times = original.split(find).length - 1;
      if (times !== 1) return { kind: 'unmatched', times };
      writeFileSync(
        path,
        original.replace(find, () => replace),
      );
      const play = await playFixtures(folder).finally(() => writeFileSync(path, original));
      return judged(play, folder, passes);
    },
  };
}

/** A case that fails without the change as well proves nothing, and so do cases that cannot be played without it. */
async function judged(play: Play, folder: string, passes: Passes): Promise<Judgement> {
  if (play.kind === 'unplayable') {
    const sound = await playFixtures(folder, SMALL);
    if (sound.kind !== 'played') throw new Error(`the fixtures cannot be played: ${sound.why}`);
    return { kind: 'killed', by: play.why };
  }
  const failed = failedOf(play.report);
  // One that is known costs nothing.
  const inOrder = failed.toSorted(
    (one, other) => Number(passes.has(other.case_id)) - Number(passes.has(one.case_id)),
  );
  for (const one of inOrder) {
    if (!(await passesSound(one.case_id, folder, passes))) continue;
    const at = one.differences[0]?.path ?? '';
    const place = at === '' ? '' : ` (${at})`;
    return { kind: 'killed', by: `${one.case_id}${place}, ${failed.length} cases in all` };
  }
  return { kind: 'survived' };
}

async function passesSound(caseId: string, folder: string, passes: Passes): Promise<boolean> {
  const known = passes.get(caseId);
  if (known !== undefined) return known;
  const play = await playFixtures(folder, caseId);
  if (play.kind !== 'played') throw new Error(`the fixtures cannot be played: ${play.why}`);
  for (const { case_id, outcome } of play.report.cases) passes.set(case_id, outcome === 'passed');
  return passes.get(caseId) ?? false;
}

type Play =
  | { readonly kind: 'played'; readonly report: Report }
  | { readonly kind: 'unplayable'; readonly why: string };

/** All of them, or those whose id or title has the text. */
function playFixtures(folder: string, filter?: string): Promise<Play> {
  const file = join(folder, 'report.json');
  rmSync(file, { force: true });
  const play = [process.execPath, '--import', 'tsx', 'cli/main.ts'];
  const some = filter === undefined ? [] : ['--filter', filter];
  const child = spawn(
    'bash',
    ['-c', BOUND, 'bash', ...play, 'eval', 'test/scenarios', '--json', file, ...some],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    if (said.length < OUTPUT_CHARS_MAX) said += chunk.toString();
  });
  const end = (): void => void child.kill('SIGKILL');
  const timer = setTimeout(end, LIMIT_MS);
  process.once('exit', end);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (_code, signal) => {
      clearTimeout(timer);
      process.off('exit', end);
      const report = signal === null ? readReport(file) : undefined;
      if (report !== undefined) resolve({ kind: 'played', report });
      else if (signal !== null) resolve({ kind: 'unplayable', why: 'it did not come to an end' });
      else resolve({ kind: 'unplayable', why: errorIn(said) });
    });
  });
}

interface Report {
  readonly cases: readonly {
    readonly case_id: string;
    readonly outcome: string;
    readonly differences: readonly { readonly path?: string }[];
  }[];
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

function failedOf({ cases }: Report) {
  return cases.filter((one) => one.outcome === 'failed');
}

/** Node says what is wrong some lines before its last one. */
function errorIn(text: string): string {
  const lines = text.trim().split('\n');
  return (lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1)!).slice(0, 200);
}
