/** Notices that other connections have written to a SQLite database: it counts their commits for us. */
import type { ChangeFeed, ChangeListener } from '../changes.js';
import { rowsOf, type Db } from '../database.js';
import { chunkTail } from './chunk-tail.js';

/** While the database changes, and when it has not for a while. */
const POLL_MS = { first: 4, last: 100 } as const;
const GROWTH = 1.02;

export function changePoll(db: Db, listener: ChangeListener): ChangeFeed {
  const tail = chunkTail(db);
  let timer: NodeJS.Timeout | undefined;
  let version: number | undefined;
  let pause: number = POLL_MS.first;
  let stopped = false;

  async function look(): Promise<void> {
    // A store that cannot be read now may be later; who reads it hears why.
    const now = await versionOf(db).catch(() => version);
    pause = now === version ? Math.min(pause * GROWTH, POLL_MS.last) : POLL_MS.first;
    if (now === version) return;
    version = now;
    listener.written(await tail.next(listener.wantsChunks()).catch(() => []));
    listener.changed();
  }

  async function lookAndGoOn(): Promise<void> {
    await look();
    next();
  }

  function next(): void {
    // Every commit counts, whatever it was: readers of events would be woken too often.
    if (stopped || !listener.wanted('stream')) {
      timer = undefined;
      return;
    }
    timer = setTimeout(() => void lookAndGoOn(), pause);
    timer.unref();
  }

  return {
    start() {
      if (timer === undefined) next();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

async function versionOf(db: Db): Promise<number | undefined> {
  const [row] = await rowsOf<{ data_version: number }>(db, 'pragma data_version', {});
  return row?.data_version;
}
