/** An example as somebody runs it, compiled, in a folder of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compiledPath } from '../compiled.js';
import { readToTheEnd } from '../read-to-the-end.js';

const EXAMPLES = join(__dirname, '../../examples');
const LIMIT_MS = 170_000;

export interface StartedExample {
  readonly child: ChildProcess;
  output(): string;
  /** Resolves with what matched, once it has printed that. */
  saw(pattern: RegExp): Promise<RegExpExecArray>;
  /** Its exit code. */
  exit(): Promise<number | null>;
}

export interface StartOptions {
  readonly folder: string;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Longest wait for something printed, in ms. */
  readonly limitMs?: number;
}

export function startExample(
  name: string,
  { folder, args = [], environment = {}, limitMs = LIMIT_MS }: StartOptions,
): StartedExample {
  const { ANTHROPIC_API_KEY: _key, ANTHROPIC_BASE_URL: _url, ...own } = process.env;
  const child = spawn(process.execPath, [compiledPath(join(EXAMPLES, name, 'start.ts')), ...args], {
    cwd: folder,
    env: { ...own, TMPDIR: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  }
  const ended = readToTheEnd(child);
  let isOver = false;
  void ended.then(() => (isOver = true));
  return {
    child,
    output: () => text,
    exit: () => ended,
    async saw(pattern) {
      const deadline = Date.now() + limitMs;
      for (;;) {
        const match = pattern.exec(text);
        if (match !== null) return match;
        if (Date.now() > deadline || isOver) throw new Error(`never saw ${pattern}:\n${text}`);
        await sleep(20);
      }
    },
  };
}

/** For the end of a test, whatever came of it. */
export async function endExample({ child, exit }: StartedExample): Promise<void> {
  if (child.exitCode === null) child.kill('SIGKILL');
  await exit();
}
