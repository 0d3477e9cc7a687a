/**
 * The store: where it is, its schema, whether it can be written; and what it knows of webhooks that failed and of
 * the desk's key.
 */
import { existsSync } from 'node:fs';
import { ALL_TENANTS, type DeskKeys } from '../../store/desk-keys.js';
import { storeExists } from '../../store/place.js';
import type { Environment } from '../../worker/config.js';
import { guarded, ok, warning, type Check } from './check.js';

/** `keyFile`: the key of the desk that would be started here, if there is one. */
export async function checkStore(
  { storePlace }: Environment,
  keyFile: string,
): Promise<readonly Check[]> {
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
    return [
      ok('store', `${place}, schema ${schemaVersion}`),
      ...(await guarded({
        name: 'notifications',
        look: async () => notTold(await store.countGivenUpNotices()),
      })),
      ...(await guarded({ name: 'desk key', look: () => keyOfDesk(store, keyFile) })),
    ];
  } finally {
    await store.close();
  }
}

async function keyOfDesk(store: DeskKeys, file: string): Promise<readonly Check[]> {
  if (!existsSync(file)) return [];
  const { objectionToKey, readDeskKey } = await import('../../client/index.js');
  const { key } = await readDeskKey(file);
  const objection = await objectionToKey(store, ALL_TENANTS, key);
  if (objection === undefined) return [];
  return [warning('desk key', objection.message, objection.hint)];
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
