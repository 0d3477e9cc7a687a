/** Where a store is, as one text: the path of a file, or the URL of a database. Nothing is opened here. */
import { existsSync } from 'node:fs';
import { isStoreUrl, shownUrl } from './postgres/store-url.js';

export { isStoreUrl } from './postgres/store-url.js';

/** The place as people may see it: without a password. Errors: `InvalidConfig`. */
export function shownPlace(place: string): string {
  return isStoreUrl(place) ? shownUrl(place) : place;
}

/** False for a file that nobody has made yet. A database is there until it says otherwise. */
export function storeExists(place: string): boolean {
  return isStoreUrl(place) || existsSync(place);
}
