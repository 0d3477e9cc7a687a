/**
 * What became of an answer to a clarifying question. It travels as a signal, so nobody says at once whether it counts:
 * the run's own record of the question does.
 */
import type { Delivery } from './deliver.js';
import { STORE_AWAY, unlessStoreAway } from '../store-away.js';
import type { Link } from '../link.js';

/** A run that has a worker tells it within a part of this. */
const HEARD_MS = 4_000;
const LOOK_MS = 100;

export interface GivenAnswer {
  readonly askId: string;
  readonly by: string;
}

/** After a signal that nobody has answered in time nobody knows yet. */
export async function heardAnswer(
  { store, tenant }: Pick<Link, 'store' | 'tenant'>,
  runId: string,
  { askId, by }: GivenAnswer,
): Promise<Delivery> {
  if (store === undefined) return { delivered: 'signal' };
  for (const until = Date.now() + HEARD_MS; Date.now() < until;) {
    const row = await unlessStoreAway(store, (calls) => calls.getAsk(tenant, askId));
    if (row === STORE_AWAY) return { delivered: 'signal', storeAway: true };
    if (row?.runId === runId && row.outcome !== 'pending') {
      const { outcome } = row;
      if (outcome === 'answered' && row.by.includes(by)) {
        return { delivered: 'update', verdict: { accepted: true, outcome } };
      }
      const reason = outcome === 'expired' ? 'late' : 'already_decided';
      const who = row.by.length === 0 ? '' : ` by ${row.by.join(', ').slice(0, 200)}`;
      const message = `the question was ${outcome}${who}`;
      return { delivered: 'update', verdict: { accepted: false, reason, message } };
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return { delivered: 'signal' };
}
