/** The store: its file, its schema. */
import { existsSync } from 'node:fs';
import type { Environment } from '../../worker/config.js';
import { ok, warning, type Check } from './check.js';

export async function checkStore({ storeFile }: Environment): Promise<readonly Check[]> {
  if (!existsSync(storeFile)) {
    return [
      warning(
        'store',
        `there is none at ${storeFile}`,
        'The first worker makes it; set HOLDFAST_STORE when your workers use another file.',
      ),
    ];
  }
  const { openStore } = await import('../../store/store.js');
  const store = await openStore({ file: storeFile });
  try {
    const { schemaVersion } = await store.health();
    return [ok('store', `${storeFile}, schema ${schemaVersion}`)];
  } finally {
    await store.close();
  }
}
