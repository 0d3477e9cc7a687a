/** What somebody hears of what they said to a goal. */
import type { Told } from '../data/api-types.js';

export function receiptOf({ state, message, storeAway }: Told, done: string): string {
  if (storeAway === true) return 'Sent. The store is away: the page shows later whether it counts.';
  if (state === 'sent')
    return `Sent. ${message ?? 'The word counts as soon as a worker has taken it up.'}`;
  return message === undefined ? done : `${done} ${message}`;
}
