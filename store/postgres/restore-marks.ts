/**
 * By which a database of PostgreSQL tells that it was restored or promoted: the cluster that it is in, its number
 * there, and the cluster's timeline, which begins anew with every recovery that ends.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { Borrowed } from './connections.js';

const MARKS = `concat_ws('/',
  (select system_identifier from pg_control_system()),
  (select oid from pg_database where datname = current_database()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8))`;

const NONE = 'null::text';
/** SQLSTATEs: no permission, no such function, not offered by this kind of PostgreSQL. */
const REFUSED: ReadonlySet<unknown> = new Set(['42501', '42883', '0A000']);

/** An expression for it; where the role may not ask, one that tells nothing. */
export async function restoreMarks({ run }: Pick<Borrowed, 'run'>): Promise<string> {
  try {
    await run(`select ${MARKS} as marks`);
    return MARKS;
  } catch (error) {
    if (isRefused(error)) return NONE;
    throw error;
  }
}

/** The role may not ask, or this kind of PostgreSQL cannot tell; anything else passes. */
function isRefused(error: unknown): boolean {
  return error instanceof HoldfastError && REFUSED.has(error.details?.postgres);
}
