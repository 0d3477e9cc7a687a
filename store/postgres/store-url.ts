/**
 * The store's address in PostgreSQL, `postgres://user:password@host:port/database?…`.
 * Invariant: nothing that leaves this file but the connection itself holds a secret.
 */
import { HoldfastError } from '../../core/state/errors.js';

/** Whether a place of the store is a database's address, and not a file. */
export function isStoreUrl(place: string): boolean {
  return /^postgres(ql)?:\/\//i.test(place);
}

/** The address as people may see it: user, host and database. Errors: `InvalidConfig`. */
export function shownUrl(url: string): string {
  const { username, host, pathname, searchParams } = parsed(url);
  // An unescaped `/` in a password ends the host too early, and the rest would be shown.
  if (/[@:]/.test(pathname) || pathname.lastIndexOf('/') > 0 || pathname.length < 2) {
    throw unreadable();
  }
  const user = username === '' ? '' : `${username}@`;
  const socket = searchParams.get('host');
  return `postgres://${user}${host === '' && socket !== null ? `[${socket}]` : host}${pathname}`;
}

function parsed(url: string): URL {
  try {
    return new URL(url);
  } catch {
    // Without its cause: that one quotes the whole address.
    throw unreadable();
  }
}

function unreadable(): HoldfastError {
  return new HoldfastError('InvalidConfig', "The store's address cannot be read.", {
    hint: 'Write it as postgres://user:password@host:port/database, special characters in the password percent-encoded.',
  });
}
