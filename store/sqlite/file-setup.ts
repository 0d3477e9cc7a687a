/** The file of a store before it is one: what may lie in its place, whose it is, and how a connection to it commits. */
import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { HoldfastError } from '../../core/state/errors.js';
import { makeFolder } from '../make-folder.js';
import { openFailure } from './sqlite-errors.js';

/**
 * Pages (of 4 KiB) in the write-ahead log before it is copied into the file. A copy costs many commits, but
 * until the first one every commit makes the log longer, which takes twice as long as writing over it.
 */
const CHECKPOINT_PAGES = 1_000;
/** The same for a connection that writes much and waits for nobody: a copy would hold up its process. */
const LOSSY_CHECKPOINT_PAGES = 10_000;
/** The write-ahead log is cut back to this size at checkpoints. */
const JOURNAL_BYTES_MAX = 64 * 1024 * 1024;

/**
 * `lossy`: a power cut may take back the last commits. The file stays whole, and durable commits durable. `settled`: the
 * same, until somebody syncs them.
 */
export type Commits = 'durable' | 'settled' | 'lossy';

/** A pipe would be waited for, and beside a device files would be made. */
export function refuseOthers(file: string): void {
  if (isFileOrNothing(file)) return;
  throw new HoldfastError('StoreUnavailable', `The place of the store, ${file}, is no file.`, {
    hint: 'Name a file, or one that does not exist yet, with HOLDFAST_STORE or --store.',
  });
}

function isFileOrNothing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    // What cannot be looked at is said when it is opened.
    return true;
  }
}

/** The folder of a store's file, for this user only when it is new. Errors: `StoreUnavailable`. */
export function makeFolderOf(file: string): void {
  try {
    makeFolder(dirname(file), 0o700);
  } catch (error) {
    throw openFailure(error, file);
  }
}

export function createPrivately(file: string): void {
  try {
    // Conversations are nobody else's business; SQLite gives its side files the mode of this one.
    closeSync(openSync(file, 'ax', 0o600));
  } catch (error) {
    // A file that is there is left alone: closing it would drop this process's locks on it, by which others know that
    // the log is in use.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

export function configure(connection: Database.Database, commits: Commits): void {
  connection.exec('pragma journal_mode = wal');
  connection.exec(`pragma synchronous = ${commits === 'durable' ? 'full' : 'normal'}`);
  connection.exec('pragma fullfsync = on');
  connection.exec('pragma foreign_keys = off');
  const pages = commits === 'lossy' ? LOSSY_CHECKPOINT_PAGES : CHECKPOINT_PAGES;
  connection.exec(`pragma wal_autocheckpoint = ${pages}`);
  connection.exec(`pragma journal_size_limit = ${JOURNAL_BYTES_MAX}`);
}
