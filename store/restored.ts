/** When an older copy took the place of a store, as its audit trail has it. */
import type { AuditRow } from '../pure/audit.js';
import type { Audit } from './audit.js';
import { LIST_ROWS_MAX } from './bounds.js';
import { ALL_TENANTS } from './desk-keys.js';
import type { Identity } from './identity.js';

type Trail = Pick<Audit, 'readAudit'>;

/** What a copy lacks is told this long, ms: by then runs that began before have left most namespaces. */
const TOLD_MS = 30 * 86_400_000;

/** In order, at most LIST_ROWS_MAX; whatever else the trail has is not read. */
export function restorationsIn(store: Trail): Promise<readonly AuditRow[]> {
  return store.readAudit(ALL_TENANTS, { kind: 'store_restored', limit: LIST_ROWS_MAX });
}

/** When the last one was noticed, ms since epoch; undefined: never, or long ago. */
export async function restoredLately(
  store: Trail & Pick<Identity, 'identity'>,
  now = Date.now(),
): Promise<number | undefined> {
  if ((await store.identity(now)).epoch === 1) return undefined;
  const at = (await restorationsIn(store)).at(-1)?.at;
  return at !== undefined && now - at < TOLD_MS ? at : undefined;
}
