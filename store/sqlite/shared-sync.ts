/**
 * One sync of a file's write-ahead log for all who wait for one. A commit is then only written (synchronous NORMAL), so
 * that a slow disk stops no process: the sync runs beside it, and the next one takes along what came meanwhile.
 * Invariants:
 *  Whoever waits is released by a sync that began after everything that they have written or could have read.
 *  A sync that has failed is not tried again: the system may have dropped what the disk did not take, and another sync
 *  would succeed without it. Everybody who waits fails, and so does every later call.
 */
import fs from 'node:fs';
import type { SqliteDatabase } from 'kysely';
import { HoldfastError } from '../../core/state/errors.js';

export interface SharedSync {
  /** Resolves when what this connection has written, or could have read, is on disk. Errors: `StoreUnavailable`. */
  settled(): Promise<void>;
  /** After the syncs that somebody waits for. */
  close(): Promise<void>;
}

interface Syncing {
  /** The version of the file when it began. */
  readonly upTo: string;
  readonly done: Promise<void>;
}

/** Of a connection to `file` in WAL mode; `statements` are the connection's. */
export function sharedSync(statements: SqliteDatabase, file: string): SharedSync {
  const log = descriptorOf(`${file}-wal`);
  let onDisk: string | undefined;
  let running: Syncing | undefined;
  let next: Promise<void> | undefined;
  let failed: HoldfastError | undefined;

  async function sync(upTo: string): Promise<void> {
    try {
      await syncFile(log.get());
      onDisk = upTo;
    } catch (cause) {
      throw (failed = notTaken(file, cause));
    } finally {
      running = undefined;
    }
  }

  async function begin(): Promise<void> {
    next = undefined;
    if (failed !== undefined) throw failed;
    const upTo = versionOf(statements);
    running = { upTo, done: sync(upTo) };
    return running.done;
  }

  return {
    async settled() {
      const wanted = versionOf(statements);
      if (wanted === onDisk) return;
      if (running === undefined) return begin();
      if (running.upTo === wanted) return running.done;
      // The one under way may have begun before this was written.
      return (next ??= running.done.catch(() => undefined).then(begin));
    },
    async close() {
      for (let last = next ?? running?.done; last !== undefined; last = next ?? running?.done) {
        await last.catch(() => undefined);
      }
      log.close();
    },
  };
}

/** Another text after each commit to the file, whoever made it. */
function versionOf(statements: SqliteDatabase): string {
  const text = 'select total_changes() as own, data_version as others from pragma_data_version';
  const [row] = statements.prepare(text).all([]) as readonly { own: number; others: number }[];
  return `${row?.own}:${row?.others}`;
}

/** Opened when it is needed: the log is there as long as a connection has the file open. */
function descriptorOf(path: string): { get(): number; close(): void } {
  let descriptor: number | undefined;
  return {
    get: () => (descriptor ??= fs.openSync(path, 'r+')),
    close() {
      if (descriptor !== undefined) fs.closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

/** Linux tells apart what a file has and when it was changed; elsewhere a whole sync reaches the disk more surely. */
function syncFile(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const ended = (error: Error | null): void => (error === null ? resolve() : reject(error));
    if (process.platform === 'linux') fs.fdatasync(descriptor, ended);
    else fs.fsync(descriptor, ended);
  });
}

function notTaken(file: string, cause: unknown): HoldfastError {
  return new HoldfastError('StoreUnavailable', `The disk did not take what ${file}-wal has.`, {
    hint: 'Look after the disk, then start the processes that use the store again.',
    cause,
  });
}
