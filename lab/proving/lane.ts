/** One worker process on a task queue of its own: killing it hits exactly the run that is on it. */
import {
  startWorkerProcess,
  type WorkerEntrySettings,
  type WorkerProcess,
} from '../../testing/index.js';

export interface Lane {
  readonly taskQueue: string;
  readonly standStillAt: WorkerProcess['standStillAt'];
  /** SIGKILL and, at once, a new worker. Resolves when the old one is gone. */
  crash(): Promise<void>;
  /**
   * SIGSTOP and, at once, a new worker beside it; the old one is woken when `past` resolves, and works on
   * until the lane is ready for another run.
   */
  freeze(past: () => Promise<void>): Promise<void>;
  /** Resolves when one worker serves, and no other; rejects when none could be started again. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the lane's first worker. */
export async function openLane(settings: WorkerEntrySettings): Promise<Lane> {
  const first = await startWorkerProcess(settings);
  let current: Promise<WorkerProcess> = Promise.resolve(first);
  let woken: WorkerProcess[] = [];
  let stopped = false;
  const replaceBy = (next: Promise<WorkerProcess>): void => {
    current = next;
    // Whoever waits for the lane hears of it; a rejection that nobody waits for must not end us.
    current.catch(() => undefined);
  };
  const retire = async (): Promise<void> => {
    const old = woken;
    woken = [];
    await Promise.all(old.map((worker) => worker.stop()));
  };
  return {
    taskQueue: settings.taskQueue,
    standStillAt: async (point) => (await current).standStillAt(point),
    async crash() {
      const worker = await current;
      if (stopped) return;
      const gone = worker.kill();
      replaceBy(gone.then(() => startWorkerProcess(settings)));
      await gone;
    },
    async freeze(past) {
      const worker = await current;
      worker.freeze();
      try {
        replaceBy(startWorkerProcess(settings));
        await past();
      } finally {
        worker.unfreeze();
        woken.push(worker);
      }
    },
    async ready() {
      await current;
      await retire();
    },
    async stop() {
      stopped = true;
      const worker = await current.catch(() => undefined);
      await Promise.all([worker?.stop(), retire()]);
    },
  };
}
