/** Whether anybody works on the task queue. */
import { bounded, type Link } from './link.js';

/** Temporal's numbers of the two kinds of task queue. */
const DECISIONS = 1;
const KINDS = [DECISIONS, 2] as const;
/** The server remembers a poller for minutes; one that was seen this recently is alive. */
const FRESH_MS = 90_000;

/** A process that asks for work, as the server names it. */
export interface Poller {
  /** `pid@host`, unless its worker says otherwise. */
  readonly identity: string;
  /** When it asked last, ms since epoch by the server's clock. */
  readonly askedAt: number;
}

/** Those that asked within the last 90 seconds, each once. */
export async function pollers(link: Link, queue = link.taskQueue): Promise<readonly Poller[]> {
  const asked = { ...link, taskQueue: queue };
  return eachOnce((await Promise.all(KINDS.map((kind) => pollersOf(asked, kind)))).flat());
}

/** Those of them that take workflow tasks, on the queue of the link. */
export async function deciders(link: Link): Promise<readonly Poller[]> {
  return eachOnce(await pollersOf(link, DECISIONS));
}

function eachOnce(found: readonly Poller[]): readonly Poller[] {
  const latest = new Map<string, number>();
  for (const { identity, askedAt } of found) {
    latest.set(identity, Math.max(askedAt, latest.get(identity) ?? 0));
  }
  return [...latest].map(([identity, askedAt]) => ({ identity, askedAt }));
}

/** Processes that asked for work recently. A dead one is still counted for up to 90 seconds. */
export async function workerCount(link: Link, queue = link.taskQueue): Promise<number> {
  return (await pollers(link, queue)).length;
}

async function pollersOf(link: Link, taskQueueType: 1 | 2): Promise<readonly Poller[]> {
  const described = await bounded(link, {}, () =>
    link.connection.workflowService.describeTaskQueue({
      namespace: link.namespace,
      taskQueue: { name: link.taskQueue },
      taskQueueType,
    }),
  );
  return (described.pollers ?? [])
    .map(({ identity, lastAccessTime }) => ({
      identity: identity ?? 'unknown',
      askedAt: Number(lastAccessTime?.seconds ?? 0) * 1000,
    }))
    .filter(({ askedAt }) => Date.now() - askedAt < FRESH_MS);
}
