/** Commands in processes of their own, with what they took. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
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

/** Errors: whatever the command says when it does not end with 0. */
export async function takenBy(folder: string, argv: readonly string[]): Promise<Taken> {
  const began = performance.now();
  const child = fork(ENTRY, [JSON.stringify({ folder, argv })], {
    execArgv: RUNS_FROM_SOURCES ? ['--import', 'tsx'] : [],
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
