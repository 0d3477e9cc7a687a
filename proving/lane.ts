/** One worker process on a task queue of its own: killing it hits exactly the run that is on it. */
import {
  startWorkerProcess,
  type WorkerEntrySettings,
  type WorkerProcess,
} from '../testing/index.js';

export interface Lane {
  readonly taskQueue: string;
  /** SIGKILL and, at once, a new worker. Resolves when the old one is gone. */
  crash(): Promise<void>;
  /** Resolves when a worker serves; rejects when none could be started again. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the lane's first worker. */
export async function openLane(settings: WorkerEntrySettings): Promise<Lane> {
  const first = await startWorkerProcess(settings);
  let current: Promise<WorkerProcess> = Promise.resolve(first);
  let stopped = false;
  return {
    taskQueue: settings.taskQueue,
    async crash() {
      const worker = await current;
      if (stopped) return;
      const gone = worker.kill();
      current = gone.then(() => startWorkerProcess(settings));
      // Whoever waits for the lane hears of it; a rejection that nobody waits for must not end us.
      current.catch(() => undefined);
      await gone;
    },
    async ready() {
      await current;
    },
    async stop() {
      stopped = true;
      const worker = await current.catch(() => undefined);
      await worker?.stop();
    },
  };
}
