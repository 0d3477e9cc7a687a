/**
 * A thread of workflow code that is begun ahead: a thread loads its modules for as long as a worker loads its own, so both
 * do so at the same time. Nothing of the SDK is imported here, because that is what takes so long.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker as Thread } from 'node:worker_threads';

const THREAD = join(__dirname, 'run-thread.js');

let ahead: Thread | undefined;

/** Sources that are run as they are have no thread. */
export function hasThreads(): boolean {
  return existsSync(THREAD);
}

export interface ThreadAhead {
  /** Ends it if no worker has taken it. */
  end(): Promise<void>;
}

/** Begins one thread, unless one is ahead already; it keeps no process alive. */
export function beginThread(): ThreadAhead | undefined {
  if (ahead !== undefined || !hasThreads()) return undefined;
  const thread = new Thread(THREAD);
  const forget = (): boolean => {
    const isAhead = ahead === thread;
    if (isAhead) ahead = undefined;
    return isAhead;
  };
  // One that fails is forgotten: the next one, which a worker waits for, tells why.
  thread.once('error', forget).once('exit', forget).unref();
  ahead = thread;
  return {
    async end() {
      if (forget()) await thread.terminate();
    },
  };
}

/** The thread that is ahead, or a new one. */
export function takeThread(): Thread {
  const thread = ahead ?? new Thread(THREAD);
  ahead = undefined;
  thread.ref();
  return thread;
}
