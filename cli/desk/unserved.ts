/** What runs have not asked yet, because no worker serves them. */
import { ALIVE_MS } from '../../store/served.js';
import type { Session } from '../session.js';

const WORKERS_MAX = 1_000;

/** Undefined: a worker serves the queue, or nobody knows. */
export async function unservedRemark(session: Session): Promise<string | undefined> {
  const store = await session.store();
  const client = await session.tryClient();
  if (store === undefined || client === undefined) return undefined;
  const { namespace, taskQueue } = client;
  const queue = { namespace, taskQueue, withinMs: ALIVE_MS, limit: WORKERS_MAX };
  const workers = await store.listServed(queue);
  if (workers.some(({ isAlive }) => isAlive)) return undefined;
  return `No worker serves the task queue ${taskQueue}: what its runs have not asked yet stands here when one does. Start one with \`holdfast worker\`.`;
}
