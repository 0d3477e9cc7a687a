/**
 * No live fork beside workers that do not ask before they repeat what its family did.
 * Invariant: a worker of an older release opened the store before this release did, and none can open it since: once they are
 * gone, no other one comes.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { Served } from '../../store/served.js';
import type { Link } from '../link.js';

/** Workers since this schema look at the whole family of a fork, at every version of a tool, and after a lost attempt. */
const ASKING_SINCE = 23;
const SHOWN_CHARS = 100;

/** Errors: `ForkRefused` while an older worker may be there. */
export async function refuseBesideOlder(
  { namespace, store: own }: Pick<Link, 'namespace' | 'store'>,
  given: Partial<Pick<Served, 'olderWorkers'>>,
): Promise<void> {
  const store = given.olderWorkers === undefined ? own : given;
  const older = (await store?.olderWorkers?.({ namespace, schema: ASKING_SINCE })) ?? [];
  const [one] = older;
  if (one === undefined) return;
  const { worker, taskQueue } = one;
  throw new HoldfastError(
    'ForkRefused',
    `A worker of an older release is at work on the task queue ${taskQueue.slice(0, SHOWN_CHARS)}: it would repeat effects without a question.`,
    {
      hint: 'End the older workers (after a kill wait ten minutes), or play the fork dry (`holdfast fork` without --live).',
      details: { worker, taskQueue, workers: older.length },
    },
  );
}
