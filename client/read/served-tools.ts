/** What a decision still waits for: an approved call runs when a worker with its tool is there (G118). */
import type { AskView } from '../../core/state/ask-view.js';
import type { Link } from '../link.js';

const DAY_MS = 86_400_000;
const WORKERS_MAX = 1_000;

/** `a worker with NAME@VERSION`; undefined: one is there, or nobody knows. */
export async function workerWanted(
  { store, namespace, taskQueue, tenant }: Link,
  runId: string,
  { tool, toolVersion }: Pick<AskView, 'tool' | 'toolVersion'>,
): Promise<string | undefined> {
  if (store === undefined || tool === undefined) return undefined;
  const key = `${tool}@${toolVersion}`;
  try {
    const needs = await store.needsOf({ tenant, runId });
    const code = needs?.code.tools.find((name) => name.startsWith(`${key}#`));
    if (code === undefined) return undefined;
    const queue = { namespace, taskQueue, withinMs: DAY_MS, limit: WORKERS_MAX };
    const workers = await store.listServed(queue);
    // Workers of an older release say nothing in the store.
    if (workers.length === 0) return undefined;
    const isServed = workers.some(
      (worker) => worker.isAlive && (worker.code.incomplete || worker.code.tools.includes(code)),
    );
    return isServed ? undefined : `a worker with ${key}`;
  } catch {
    return undefined;
  }
}
