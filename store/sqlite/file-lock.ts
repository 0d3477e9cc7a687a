/**
 * A lock between processes, and between callers of one process: SQLite's own exclusive lock on an empty file.
 * Invariants: the operating system releases the lock when its process dies, so that no lock is ever stale; a lock writes nothing.
 */
import Database from 'better-sqlite3';
import type { HoldfastError } from '../../core/state/errors.js';
import { keep } from './kept.js';
import { isSqliteError, openFailure } from './sqlite-errors.js';

const LOCK_POLL_MS = 20;

export interface FileLock {
  /** The lock's file; its folder must be there. The file stays. */
  readonly path: string;
  /** Longest wait for another holder, in ms. */
  readonly waitMs: number;
  /** Called once, when the wait for another holder begins. */
  readonly onWait?: () => void;
  /** What is thrown after `waitMs`. */
  readonly tooLong: () => HoldfastError;
}

/** Runs `work` while nobody else holds the lock. Errors: those of `work`, and `tooLong`. */
export async function withFileLock<T>(lock: FileLock, work: () => Promise<T>): Promise<T> {
  const file = openLock(lock.path);
  try {
    await acquire(file, lock);
    return await work();
  } finally {
    file.close();
  }
}

function openLock(path: string): Database.Database {
  try {
    return keep(new Database(path, { timeout: 0 }));
  } catch (error) {
    throw openFailure(error, path);
  }
}

async function acquire(file: Database.Database, lock: FileLock): Promise<void> {
  const deadline = performance.now() + lock.waitMs;
  let isTold = false;
  while (!tryAcquire(file, lock.path)) {
    if (!isTold) lock.onWait?.();
    isTold = true;
    if (performance.now() > deadline) throw lock.tooLong();
    // A timer, not SQLite's busy handler: that one would block the process.
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
}

function tryAcquire(file: Database.Database, path: string): boolean {
  try {
    // Without a journal, which would be written, and a full disk takes nothing.
    file.exec('pragma journal_mode = memory; begin exclusive');
    return true;
  } catch (error) {
    if (isSqliteError(error) && error.code.startsWith('SQLITE_BUSY')) return false;
    throw openFailure(error, path);
  }
}
