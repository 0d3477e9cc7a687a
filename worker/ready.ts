/** Whether a worker takes work, and what it needs for that answers. */
import type { Worker } from '@temporalio/worker';
import { readinessOf, type Readiness } from '../connection/index.js';
import type { Store } from '../store/store.js';

/** A look at the server ends after this, ms. */
const LOOK_LIMIT_MS = 5_000;

export interface WorkerReadiness extends Readiness {
  readonly worker: 'starting' | 'running' | 'draining' | 'stopped' | 'failed';
}

const WORDS: { readonly [state in ReturnType<Worker['getState']>]: WorkerReadiness['worker'] } = {
  INITIALIZED: 'starting',
  RUNNING: 'running',
  STOPPING: 'draining',
  DRAINING: 'draining',
  DRAINED: 'draining',
  STOPPED: 'stopped',
  FAILED: 'failed',
};

export interface Watched {
  readonly worker: Worker;
  readonly store: Pick<Store, 'identity'>;
  readonly namespace: string;
}

export function workerReadiness({
  worker,
  store,
  namespace,
}: Watched): () => Promise<WorkerReadiness> {
  const look = readinessOf({
    store: () => store.identity(Date.now()),
    // Anew each time: the worker has another connection when its credentials have changed.
    temporal: async () => {
      const { connection } = worker;
      await connection?.withDeadline(Date.now() + LOOK_LIMIT_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
    },
  });
  return async () => {
    const { ok, ...parts } = await look();
    const state = WORDS[worker.getState()];
    return { ok: ok && state === 'running', worker: state, ...parts };
  };
}
