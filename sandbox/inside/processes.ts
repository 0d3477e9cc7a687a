/** The other processes of the sandbox: all of them belong to the command, and none outlives it. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const PAGE_BYTES = 4_096;
const TRIES_MAX = 500;
const PAUSE_MS = 5;
/** Bubblewrap's own, which collects the dead. */
const FIRST = 1;

function others(): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== FIRST && pid !== process.pid);
}

/** Memory that they hold together. */
export function memoryOfOthers(): number {
  return others().reduce((sum, pid) => sum + memoryOf(pid), 0);
}

function memoryOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

/** Ends every other process. Errors: some are still there. */
export async function endOthers(): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    try {
      // All at once: what begets others cannot run ahead.
      process.kill(-1, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    if (others().length === 0) return;
    await sleep(PAUSE_MS);
  }
  throw new Error('Processes of the command do not end.');
}
