/** Lists while the store is silent: whoever asks hears within seconds that it is away. */
import { STORE_AWAY, unlessStoreAway, whyAway } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Desk } from '../desk.js';

/**
 * The list takes as long as it takes: that one is slow says nothing of the store, which is asked first for something
 * small. Errors: StoreUnavailable, and those of `list`.
 */
export async function inTime<Answer>(
  { store }: Pick<Desk, 'store'>,
  list: () => Promise<Answer>,
): Promise<Answer> {
  const known = await unlessStoreAway(store, (calls) => calls.identity(Date.now()));
  if (known !== STORE_AWAY) return list();
  throw whyAway(store) ?? new HoldfastError('StoreUnavailable', 'The store does not answer.');
}
