/** Whether the store can be written: a text is stored in a transaction that is never committed. */
import { randomUUID } from 'node:crypto';
import type { Store } from '../../store/store.js';
import { broken, ok, type Check } from './check.js';

/** Leaves the transaction, and takes back what it did. */
class TakenBack extends Error {}

/** The check of a store that can be read, with what is known of it. */
export async function writableCheck(store: Pick<Store, 'together'>, found: string): Promise<Check> {
  try {
    await store.together(async (calls) => {
      await calls.putBlob('default', `doctor ${randomUUID()}`);
      throw new TakenBack();
    });
  } catch (error) {
    if (error instanceof TakenBack) return ok('store', found);
    const { message, hint = 'Let this user write it.' } = error as Error & {
      readonly hint?: string;
    };
    return broken('store', `${found}: it can be read, and not written: ${message}`, hint);
  }
  return ok('store', found);
}
