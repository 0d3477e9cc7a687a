/** What runs have not asked yet, because no worker serves them. */
import { ALIVE_MS } from '../../store/served.js';
import type { Session } from '../session.js';

const DAY_MS = 86_400_000;
const WORKERS_MAX = 1_000;

/** Undefined: a worker serves the queue, or nobody knows. */
export async function unservedRemark(session: Session): Promise<string | undefined> {
  try {
    const [store, client] = [await session.store(), await session.tryClient()];
    if (store === undefined || client === undefined) return undefined;
    const { namespace, taskQueue } = client;
    const queue = { namespace, taskQueue, withinMs: DAY_MS, limit: WORKERS_MAX };
    const workers = await store.listServed(queue);
    if (workers.some(({ isAlive }) => isAlive)) return undefined;
    // Workers of an older release say nothing in the store, and the server counts a dead one for a while.
    const mayBeOlder = !workers.some(({ silentMs }) => silentMs < COUNTED_MS);
    if (mayBeOlder && (await client.workerCount()) > 0) return undefined;
    return `No worker serves the task queue ${taskQueue}: what its runs have not asked yet stands here when one does. Start one with \`holdfast worker\`.`;
  } catch {
    return undefined;
  }
}

const COUNTED_MS = 4 * ALIVE_MS;
