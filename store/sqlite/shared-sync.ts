/**
 * One sync of a file's write-ahead log for all who wait for one. A commit is then only written (synchronous NORMAL), so
 * that a slow disk stops no process: the sync runs beside it, and the next one takes along what came meanwhile.
 * Invariants:
 *  Whoever waits is released by a sync that began after every commit that they have made or could have read.
 *  A sync that has failed is not tried again: the system may have dropped what the disk did not take, and another sync
 *  would succeed without it. Everybody who waits fails, and every later call is refused before its work.
 */
import fs from 'node:fs';
import { HoldfastError } from '../../core/state/errors.js';
import type { Durability } from '../database.js';

export interface SharedSync extends Durability {
  /** After the syncs that somebody waits for. */
  close(): Promise<void>;
}

interface Syncing {
  /** The version of the file when it began. */
  readonly upTo: string;
  readonly done: Promise<void>;
}

/**
 * Of a connection to `file` in WAL mode, which has read. `version`: another text after each commit to the file, whoever
 * made it. Errors: those of the system, when the log cannot be opened.
 */
export function sharedSync(file: string, version: () => string): SharedSync {
  // From the beginning: a descriptor is told of errors since it was opened.
  let log: number | undefined = fs.openSync(`${file}-wal`, 'r+');
  let onDisk: string | undefined;
  let running: Syncing | undefined;
  let next: Promise<void> | undefined;
  let failed: HoldfastError | undefined;

  function refuse(): void {
    if (failed !== undefined) throw failed;
  }

  async function sync(upTo: string): Promise<void> {
    try {
      await syncFile(log);
      onDisk = upTo;
    } catch (cause) {
      throw (failed = notTaken(file, cause));
    } finally {
      running = undefined;
    }
  }

  async function begin(): Promise<void> {
    next = undefined;
    refuse();
    const upTo = version();
    const done = sync(upTo);
    running = { upTo, done };
    return done;
  }

  return {
    refuse,
    async settled() {
      const wanted = version();
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
      if (log !== undefined) fs.closeSync(log);
      log = undefined;
    },
  };
}

/** Linux tells apart what a file has and when it was changed; elsewhere a whole sync reaches the disk more surely. */
function syncFile(descriptor: number | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (descriptor === undefined) return reject(new Error('The store has been closed.'));
    const ended = (error: Error | null): void => (error === null ? resolve() : reject(error));
    if (process.platform === 'linux') fs.fdatasync(descriptor, ended);
    else fs.fsync(descriptor, ended);
  });
}

function notTaken(file: string, cause: unknown): HoldfastError {
  return new HoldfastError('StoreUnavailable', `The disk did not take what ${file}-wal has.`, {
    hint: 'Look after the disk, end all processes that use the store, then start them again.',
    cause,
  });
}
