/** What PostgreSQL's errors mean to an operator: which are the environment's, and what mends them. */
import { HoldfastError } from '../../core/state/errors.js';

/** By SQLSTATE, the longest beginning first. */
const HINTS: readonly (readonly [state: string, hint: string])[] = [
  ['25006', 'Point the store at the primary server: this one only reads.'],
  ['25P03', 'Find what stopped this process for so long, then retry.'],
  ['57014', 'Find the transaction that keeps the store locked, or a slow disk, then retry.'],
  ['53100', 'Free disk space on the database server, then retry.'],
  ['53300', 'Raise max_connections of the database server, or run fewer processes.'],
  ['3D000', 'Create the database, or correct the address of the store.'],
  ['3F000', 'Create the schema, or correct the search_path of the store.'],
  ['42501', 'Give this role the right to create and write tables in the database.'],
  ['55000', 'Point the store at the primary server: a standby that recovers serves nobody.'],
  ['42P01', 'Use a database of its own for Holdfast, or restore this one from a backup.'],
  ['XX001', 'Restore the database from a backup.'],
  ['XX002', 'Rebuild the damaged index (REINDEX), or restore the database from a backup.'],
  ['08', 'Check that the database server runs and can be reached, then retry.'],
  ['23505', 'Retry: another process wrote the same.'],
  ['28', "Correct user and password in the store's address."],
  ['40', 'Retry: other processes wrote at the same time.'],
  ['53', 'Give the database server more memory or disk, then retry.'],
  ['55', 'Find the transaction that keeps the store locked, then retry.'],
  ['57', 'Wait until the database server is up again, then retry.'],
  ['58', 'Check the disk of the database server, then retry.'],
];

const UNREACHABLE_HINT =
  'Check that the database server runs, and host, port and TLS settings of the store, then retry.';

/** `details.postgres` of a failure whose statement may or may not have run. */
const CONNECTION_LOST = 'connection lost';
/** SQLSTATEs of a transaction that can only have failed because others wrote at the same time. */
const CONTENDED: ReadonlySet<unknown> = new Set(['40001', '40P01', '23505']);
/** What passes when a server starts again, or when others close their connections. */
const PASSING: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ECONNRESET', '57P03', '53300']);

/** A failure of a statement as a HoldfastError: `StoreUnavailable`, `InvalidRequest` or `Internal`. */
export function postgresFailure(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const state = sqlState(error);
  if (state === undefined) return connectionFailure(error);
  const message = `The store failed: ${messageOf(error)} (${state}).`;
  // A value that no column or index entry can hold.
  if (state.startsWith('54') || state.startsWith('22')) {
    const hint = 'Store a smaller or a valid value.';
    return new HoldfastError('InvalidRequest', message, { hint, details: { postgres: state } });
  }
  const hint = HINTS.find(([beginning]) => state.startsWith(beginning))?.[1];
  return new HoldfastError(hint === undefined ? 'Internal' : 'StoreUnavailable', message, {
    ...(hint !== undefined && { hint }),
    details: { postgres: state },
    cause: error,
  });
}

/** What the server itself says of a statement. Every other error is one of the connection. */
export function sqlState(error: unknown): string | undefined {
  const code = codeOf(error);
  const isDatabaseError = typeof error === 'object' && error !== null && 'severity' in error;
  return isDatabaseError && typeof code === 'string' ? code : undefined;
}

/** Whether the same work may succeed when it is done again at once. Nothing of it has been written. */
export function isContended(error: unknown): boolean {
  return error instanceof HoldfastError && CONTENDED.has(error.details?.postgres);
}

export function isDisconnected(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) return false;
  const state = error.details?.postgres;
  return state === CONNECTION_LOST || (typeof state === 'string' && /^(57P0|08|25P03)/.test(state));
}

/** Whether a connection that was refused is worth another try within seconds. */
export function isPassing(error: unknown): boolean {
  return PASSING.has(codeOf(error)) || PASSING.has(codeOf(firstOf(error)));
}

function connectionFailure(error: unknown): HoldfastError {
  return new HoldfastError(
    'StoreUnavailable',
    `The database server cannot be reached: ${messageOf(error) || messageOf(firstOf(error))}.`,
    { hint: UNREACHABLE_HINT, details: { postgres: CONNECTION_LOST }, cause: error },
  );
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null | undefined)?.code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ||
    (typeof error === 'object' && error !== null && 'message' in error)
    ? String(error.message)
    : '';
}

/** A name with several addresses fails with one error for each. */
function firstOf(error: unknown): unknown {
  const errors = (error as { readonly errors?: unknown } | null | undefined)?.errors;
  return Array.isArray(errors) ? errors[0] : undefined;
}
