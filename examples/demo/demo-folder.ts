/** The examples' folder within the data folder, for one of them at a time: they stop the server that they share. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../index.js';

export interface DemoFolder {
  readonly path: string;
  release(): void;
}

/** Takes the folder for this process. */
export function takeDemoFolder(home: string): DemoFolder {
  const path = join(home, 'demo');
  const lock = join(path, 'demo.pid');
  // Beside it lie the histories of the agents' conversations.
  mkdirSync(path, { recursive: true, mode: 0o700 });
  takeLock(lock);
  return { path, release: () => rmSync(lock, { force: true }) };
}

/** A SQLite file that is not there yet, whatever the demo before left. */
export function freshDatabase(file: string): string {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  return file;
}

function takeLock(lock: string): void {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const pid = Number(readFileSync(lock, 'utf8'));
      if (isRunning(pid)) throw inUse(pid, lock);
      rmSync(lock, { force: true });
    }
  }
  throw inUse(Number.NaN, lock);
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function inUse(pid: number, lock: string): HoldfastError {
  return new HoldfastError(
    'DataFolderInUse',
    `The demo is running here already (process ${pid}).`,
    {
      hint: `End that process, start the demo in another folder, or delete ${lock} if it is a leftover.`,
    },
  );
}
