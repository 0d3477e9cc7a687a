/**
 * The checks: tests and linter of the copy that the agent cannot reach, on the code as it is now. What runs here is the
 * copy alone; code of the repository runs where the sandbox says.
 * Invariant: of the repository only the regular files of src/ count, copied into a folder that is made for one check.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileAt, filesIn } from './repository-file.js';
import type { Sandbox } from './sandbox.js';
import type { Workshop } from './workshop.js';

export interface Judging {
  readonly workshop: Pick<Workshop, 'path' | 'repository' | 'judges'>;
  readonly sandbox: Sandbox;
}

export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly { readonly test: string; readonly because: string }[];
}

export interface LintReport {
  readonly findings: number;
  readonly list: readonly { readonly file: string; readonly line: number; readonly rule: string }[];
}

/** A line of the reporter. */
interface TestResult {
  readonly test: string;
  readonly passed: boolean;
  readonly because?: string;
}

const OUTPUT_CHARS_MAX = 1_000_000;
const BECAUSE_CHARS_MAX = 300;
const LIST_MAX = 50;

export function testRepository(judging: Judging, signal: AbortSignal): Promise<TestReport> {
  return inScratch(judging, async (folder) => {
    const files = readdirSync(join(folder, 'test')).filter((name) => name.endsWith('.test.mjs'));
    const lines = await nodeLines(
      ['--test', '--test-reporter=./reporter.mjs', ...files.map((name) => `test/${name}`)],
      { folder, signal, ask: judging.sandbox.command(folder) },
    );
    const results = lines.map((line) => JSON.parse(line) as TestResult);
    const failures = results.flatMap(({ test, passed, because = '' }) =>
      passed ? [] : [{ test, because: because.slice(0, BECAUSE_CHARS_MAX) }],
    );
    return { passed: results.length - failures.length, failed: failures.length, failures };
  });
}

export function lintRepository(judging: Judging, signal: AbortSignal): Promise<LintReport> {
  return inScratch(judging, async (folder) => {
    const lines = await nodeLines(['lint.mjs', 'src'], { folder, signal });
    const list = JSON.parse(lines.at(-1) ?? 'null') as LintReport['list'];
    return { findings: list.length, list: list.slice(0, LIST_MAX) };
  });
}

/** Tests and configuration from the copy, code from the repository. */
async function inScratch<T>(
  { workshop }: Judging,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(workshop.path, 'check-'));
  try {
    // In the sandbox somebody else reads it.
    chmodSync(folder, 0o755);
    cpSync(workshop.judges, folder, { recursive: true });
    for (const name of filesIn(join(workshop.repository, 'src'))) {
      const target = join(folder, 'src', name);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(fileAt(workshop.repository, `src/${name}`), target);
    }
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Place {
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Where code of the repository runs. */
  readonly ask?: readonly string[];
}

/** What a program of the copy prints; its exit code only says whether everything is well. */
async function nodeLines(
  argv: readonly string[],
  { folder, signal, ask }: Place,
): Promise<readonly string[]> {
  const child = spawn(process.execPath, argv, {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...(ask && { ASK_COMMAND: JSON.stringify(ask) }) },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that what it started ends with it.
    detached: true,
  });
  const end = (): void => endGroup(child.pid);
  signal.addEventListener('abort', end, { once: true });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    if (output.length > OUTPUT_CHARS_MAX) end();
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors = `${errors}${chunk}`.slice(-BECAUSE_CHARS_MAX);
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    });
    if (code === null) throw new Error(`The check was ended. ${errors}`);
    const lines = output.split('\n').filter((line) => line !== '');
    if (lines.length === 0) throw new Error(`The check said nothing. ${errors}`);
    return lines;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It is over already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
