/** When an older copy took the place of a store, as its audit trail has it. */
import type { AuditRow } from '../pure/audit.js';
import type { Audit } from './audit.js';
import { LIST_ROWS_MAX } from './bounds.js';
import { ALL_TENANTS } from './desk-keys.js';
import type { Identity } from './identity.js';

type Trail = Pick<Audit, 'readAudit'>;

/** What a copy lacks is told this long, ms: by then runs that began before have left most namespaces. */
const TOLD_MS = 30 * 86_400_000;

/** All of them, in order. */
export async function restorationsIn(store: Trail): Promise<readonly AuditRow[]> {
  const found: AuditRow[] = [];
  for (let after = 0; ;) {
    const rows = await store.readAudit(ALL_TENANTS, { after, limit: LIST_ROWS_MAX });
    found.push(...rows.filter(({ kind }) => kind === 'store_restored'));
    const last = rows.at(-1);
    if (rows.length < LIST_ROWS_MAX || last === undefined) return found;
    after = last.seq;
  }
}

/** When the last one was noticed, ms since epoch; undefined: never, or long ago. */
export async function restoredLately(
  store: Trail & Pick<Identity, 'identity'>,
): Promise<number | undefined> {
  const now = Date.now();
  if ((await store.identity(now)).epoch === 1) return undefined;
  const at = (await restorationsIn(store)).at(-1)?.at;
  return at !== undefined && now - at < TOLD_MS ? at : undefined;
}
