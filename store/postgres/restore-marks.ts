/**
 * By which a database of PostgreSQL tells that it was restored or promoted: the cluster that it is in, its number
 * there, and the cluster's timeline, which begins anew with every recovery that ends.
 */
import type { Borrowed } from './connections.js';

const MARKS = `concat_ws('/',
  (select system_identifier from pg_control_system()),
  (select oid from pg_database where datname = current_database()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8))`;

const NONE = 'null::text';

/** An expression for it; where the role may not ask, one that tells nothing. */
export async function restoreMarks({ run }: Pick<Borrowed, 'run'>): Promise<string> {
  try {
    await run(`select ${MARKS} as marks`);
    return MARKS;
  } catch {
    return NONE;
  }
}
