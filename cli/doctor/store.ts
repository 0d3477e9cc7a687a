/** The store: where it is, its schema, whether it can be written; and what it knows of webhooks that failed. */
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
    const checks = [ok('store', `${place}, schema ${schemaVersion}`)];
    return [...checks, ...notTold(await store.countGivenUpNotices())];
  } finally {
    await store.close();
  }
}

function notTold(count: number): readonly Check[] {
  if (count === 0) return [];
  return [
    warning(
      'notifications',
      `${count} were given up; their questions are still open`,
      'Mend the webhook that the console names in its log; `holdfast approvals` lists what waits.',
    ),
  ];
}
