/** Whether anybody works on the task queue. */
import { bounded, type Link } from './link.js';

/** Temporal's numbers of the two kinds of task queue. */
const KINDS = [1, 2] as const;
/** The server remembers a poller for minutes; one that was seen this recently is alive. */
const FRESH_MS = 90_000;

/** Processes that asked for work recently. A dead one is still counted for up to 90 seconds. */
export async function workerCount(link: Link, queue = link.taskQueue): Promise<number> {
  const asked = { ...link, taskQueue: queue };
  const identities = await Promise.all(KINDS.map((kind) => pollersOf(asked, kind)));
  return new Set(identities.flat()).size;
}

async function pollersOf(link: Link, taskQueueType: 1 | 2): Promise<readonly string[]> {
  const described = await bounded(link, {}, () =>
    link.connection.workflowService.describeTaskQueue({
      namespace: link.namespace,
      taskQueue: { name: link.taskQueue },
      taskQueueType,
    }),
  );
  return (described.pollers ?? [])
    .filter(
      ({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000 < FRESH_MS,
    )
    .map(({ identity }) => identity ?? 'unknown');
}
