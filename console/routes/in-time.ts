/** Lists while the store is silent: whoever asks hears within seconds that it is away. */
import { STORE_AWAY, unlessStoreAway, whyAway } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Desk } from '../desk.js';

/** `isSearch`: it takes as long as it takes. Errors: StoreUnavailable, and those of `list`. */
export async function inTime<Answer>(
  { store }: Pick<Desk, 'store'>,
  list: () => Promise<Answer>,
  isSearch = false,
): Promise<Answer> {
  if (isSearch) return list();
  const answer = await unlessStoreAway(store, list);
  if (answer !== STORE_AWAY) return answer;
  throw whyAway(store) ?? new HoldfastError('StoreUnavailable', 'The store does not answer.');
}
