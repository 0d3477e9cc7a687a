/** The store: where it is, its schema, whether it can be written. */
import { storeExists } from '../../store/place.js';
import type { Environment } from '../../worker/config.js';
import { ok, warning, type Check } from './check.js';

export async function checkStore({ storePlace }: Environment): Promise<readonly Check[]> {
  if (!storeExists(storePlace)) {
    return [
      warning(
        'store',
        `there is none at ${storePlace}`,
        'The first worker makes it; set HOLDFAST_STORE when your workers use another one.',
      ),
    ];
  }
  const { openStoreAt } = await import('../../store/store.js');
  const store = await openStoreAt(storePlace);
  try {
    const { place, schemaVersion } = await store.health();
    return [ok('store', `${place}, schema ${schemaVersion}`)];
  } finally {
    await store.close();
  }
}
