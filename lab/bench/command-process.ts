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
  /** Processor time of the process. */
  readonly cpuMs: number;
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
  /** It is ended after so long. */
  readonly limitMs?: number;
}

/** Errors: whatever the command says when it does not end with 0. */
export async function takenBy(line: CommandLine): Promise<Taken> {
  const { folder, argv, heapMb, limitMs, writes } = line;
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
  const limit =
    limitMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), limitMs);
  const [end] = (await Promise.race([once(child, 'message'), exited])) as [CommandEnd | number];
  const ms = performance.now() - began;
  await exited;
  clearTimeout(limit);
  if (typeof end !== 'object' || end === null || end.code !== 0) {
    throw new Error(`${argv[0]} failed: ${typeof end === 'object' ? end?.err : end}`);
  }
  return { ms, cpuMs: end.cpuMs, rssMb: end.rssKb / 1_024 };
}

const HEAP_MB = { least: 24, most: 1_024 } as const;
const PRECISION = 0.06;
/** A heap that is nearly too small is collected again and again: a try that takes so much longer than with enough is none. */
const SLOWER = { times: 3, andMs: 5_000 } as const;
/** Of a longer run, by the heap that the shorter one took: flat, and how much more where it is not. */
export const FLAT_BY = 1.2;
const MORE = [FLAT_BY, 1.5, 2, 3, 4] as const;

type Unbounded = Omit<CommandLine, 'heapMb' | 'limitMs'>;

/** The smallest heap of older objects with which the command works, in MB. Errors: it works with none. */
export async function smallestHeap(line: Unbounded): Promise<number> {
  let fails: number = HEAP_MB.least;
  let works: number = HEAP_MB.most;
  const limitMs = limitBy(await takenBy({ ...line, heapMb: works }));
  while (works - fails > Math.max(1, PRECISION * works)) {
    // Near the low end, where it mostly lies.
    const heapMb = Math.floor(works > 4 * fails ? 2 * fails : (works + fails) / 2);
    if (await isEnough({ ...line, heapMb, limitMs })) works = heapMb;
    else fails = heapMb;
  }
  return works;
}

/**
 * A heap with which the command works on a longer run, by steps from that of a shorter one: mostly one try, because each
 * takes as long as the command. Errors: it works with none.
 */
export async function heapBehind(line: Unbounded, shorterMb: number): Promise<number> {
  const limitMs = limitBy(await takenBy(line));
  for (const more of MORE) {
    const heapMb = Math.ceil(shorterMb * more);
    if (await isEnough({ ...line, heapMb, limitMs })) return heapMb;
  }
  throw new Error(`${line.argv[0]} needs more than ${MORE.at(-1)} times the heap of a shorter run`);
}

function limitBy({ ms }: Taken): number {
  return SLOWER.times * ms + SLOWER.andMs;
}

async function isEnough(line: CommandLine): Promise<boolean> {
  try {
    await takenBy(line);
    return true;
  } catch {
    return false;
  }
}
