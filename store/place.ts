/** Where a store is, as one text: the path of a file, or the URL of a database. Nothing is opened here. */
import { existsSync } from 'node:fs';
import { HoldfastError } from '../core/state/errors.js';
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

const SCHEME_CHARS_MAX = 40;

/** Another kind of database is no file: a typing error would make a folder. Errors: `InvalidConfig`. */
export function refuseUnknownPlace(place: string): void {
  const at = place.indexOf('://');
  if (at < 0 || isStoreUrl(place)) return;
  // What follows may hold a password.
  const scheme = `${place.slice(0, at).slice(0, SCHEME_CHARS_MAX)}://`;
  throw new HoldfastError('InvalidConfig', `The store cannot be at an address ${scheme}….`, {
    hint: 'Give --store or HOLDFAST_STORE the path of a file, or postgres://user:password@host:port/database.',
  });
}
