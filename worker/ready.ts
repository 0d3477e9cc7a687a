/** Whether a worker takes work, and what it needs for that answers. */
import type { Worker } from '@temporalio/worker';
import { readinessOf, type WorkerReadiness } from '../connection/readiness.js';
import type { Store } from '../store/store.js';

/** A look at the server ends after this, ms. */
const LOOK_LIMIT_MS = 5_000;

export function workerReadiness(
  worker: Worker,
  store: Pick<Store, 'identity'>,
  namespace: string,
): () => Promise<WorkerReadiness> {
  const look = readinessOf(
    () => store.identity(Date.now()),
    // Anew each time: the worker has another connection when its credentials have changed.
    async ({ connection } = worker) =>
      connection?.withDeadline(Date.now() + LOOK_LIMIT_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      ),
  );
  return async () => {
    const { ok, ...parts } = await look();
    const state = worker.getState().toLowerCase();
    return { ok: ok && state === 'running', worker: state, ...parts };
  };
}
