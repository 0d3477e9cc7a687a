/** Commands in processes of their own, with what they took. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { CommandEnd } from './command-entry.js';
import { RUNS_FROM_SOURCES } from './worker-process.js';

const ENTRY = join(__dirname, `command-entry${extname(__filename)}`);

export interface Taken {
  /** From the spawn of the process to the end of the command. */
  readonly ms: number;
  /** Peak of resident memory. */
  readonly rssMb: number;
}

export interface CommandLine {
  readonly folder: string;
  readonly argv: readonly string[];
  /** A file that it writes, and that is removed before. */
  readonly writes?: string;
  /** Of the older objects, in MB; absent: what the machine gives. */
  readonly heapMb?: number;
}

/** Errors: whatever the command says when it does not end with 0. */
export async function takenBy(line: CommandLine): Promise<Taken> {
  const { folder, argv, heapMb, writes } = line;
  if (writes !== undefined) await rm(writes, { force: true });
  const began = performance.now();
  const child = fork(ENTRY, [JSON.stringify({ folder, argv })], {
    execArgv: [
      ...(RUNS_FROM_SOURCES ? ['--import', 'tsx'] : []),
      ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]),
    ],
    // An exhausted heap says so at length.
    stdio: ['ignore', 'ignore', heapMb === undefined ? 'inherit' : 'ignore', 'ipc'],
  });
  const exited = once(child, 'exit');
  const [end] = (await Promise.race([once(child, 'message'), exited])) as [CommandEnd | number];
  const ms = performance.now() - began;
  await exited;
  if (typeof end !== 'object' || end === null || end.code !== 0) {
    throw new Error(`${argv[0]} failed: ${typeof end === 'object' ? end?.err : end}`);
  }
  return { ms, rssMb: end.rssKb / 1_024 };
}

const HEAP_MB = { least: 24, most: 1_024 } as const;
const PRECISION = 0.04;

/** The smallest heap of older objects with which the command works, in MB. Errors: it works with none. */
export async function smallestHeap(line: Omit<CommandLine, 'heapMb'>): Promise<number> {
  let fails: number = HEAP_MB.least;
  let works: number = HEAP_MB.most;
  await takenBy({ ...line, heapMb: works });
  while (works - fails > Math.max(1, PRECISION * works)) {
    // Near the low end, where it mostly lies.
    const heapMb = Math.floor(works > 4 * fails ? 2 * fails : (works + fails) / 2);
    if (await isEnough({ ...line, heapMb })) works = heapMb;
    else fails = heapMb;
  }
  return works;
}

async function isEnough(line: CommandLine): Promise<boolean> {
  try {
    await takenBy(line);
    return true;
  } catch {
    return false;
  }
}
