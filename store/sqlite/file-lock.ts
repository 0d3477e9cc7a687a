/**
 * A lock between processes, for the moments when a store's file is created or migrated.
 * It is SQLite's own exclusive lock on an empty side file: the operating system releases it when its
 * process dies, so that no lock is ever stale.
 */
import Database from 'better-sqlite3';
import { HoldfastError } from '../../core/state/errors.js';
import { isSqliteError, openFailure } from './sqlite-errors.js';

/** How long to wait for another process that migrates, in ms. */
const LOCK_WAIT_MS_MAX = 30_000;
const LOCK_POLL_MS = 20;

/** Runs `work` while no other process holds the lock at `path`. Errors: `StoreUnavailable` after 30 s. */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = openLock(path);
  try {
    await acquire(lock, path);
    return await work();
  } finally {
    lock.close();
  }
}

function openLock(path: string): Database.Database {
  try {
    return new Database(path, { timeout: 0 });
  } catch (error) {
    throw openFailure(error, path);
  }
}

async function acquire(lock: Database.Database, path: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < LOCK_WAIT_MS_MAX; waitedMs += LOCK_POLL_MS) {
    if (tryAcquire(lock, path)) return;
    // A timer, not SQLite's busy handler: that one would block the process.
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
  throw new HoldfastError(
    'StoreUnavailable',
    'Another process has been opening or migrating this store for 30 seconds.',
    { hint: `End the process that holds ${path}, then start again.` },
  );
}

function tryAcquire(lock: Database.Database, path: string): boolean {
  try {
    lock.exec('begin exclusive');
    return true;
  } catch (error) {
    if (isSqliteError(error) && error.code.startsWith('SQLITE_BUSY')) return false;
    throw openFailure(error, path);
  }
}
