/**
 * When an older copy took the place of a store, as its audit trail has it. A promotion looks the same to the database
 * as a restoration within its cluster: nothing proves that rows are missing, and it is told for a short time.
 */
import type { AuditRow } from '../pure/audit.js';
import type { Audit } from './audit.js';
import { LIST_ROWS_MAX } from './bounds.js';
import { ALL_TENANTS } from './desk-keys.js';
import { isPromotion, type Identity } from './identity.js';

type Trail = Pick<Audit, 'readAudit'>;
type KnownTrail = Trail & Pick<Identity, 'identity'>;

const DAY_MS = 86_400_000;
/** What a copy lacks is told this long, ms: by then runs that began before have left most namespaces. */
const TOLD_MS = 30 * DAY_MS;
const PROMOTION_TOLD_MS = DAY_MS;

/** What an operator should know of a promotion. */
export const PROMOTED =
  'the database was promoted, or restored within its cluster: if it was behind, its newest rows are missing';
export const PROMOTED_MEND =
  'Where it was behind, or is an older copy, say so: `holdfast store restored --as NAME`. Otherwise there is nothing to do.';

/** In order, the newest LIST_ROWS_MAX; whatever else the trail has is not read. */
export async function restorationsIn(store: Trail): Promise<readonly AuditRow[]> {
  const query = { kind: 'store_restored', limit: LIST_ROWS_MAX } as const;
  let page = await store.readAudit(ALL_TENANTS, query);
  let rows = page;
  while (page.length === LIST_ROWS_MAX) {
    page = await store.readAudit(ALL_TENANTS, { ...query, after: page.at(-1)?.seq ?? 0 });
    rows = [...rows, ...page].slice(-LIST_ROWS_MAX);
  }
  return rows;
}

export interface NoticedLately {
  /** That an older copy took its place, the last time; ms since epoch; absent: never, or long ago. */
  readonly restoredAt?: number;
  /** That it was promoted, the last time. */
  readonly promotedAt?: number;
}

export async function noticedLately(store: KnownTrail, now = Date.now()): Promise<NoticedLately> {
  if ((await store.identity(now)).epoch === 1) return {};
  const rows = await restorationsIn(store);
  const restoredAt = rows.findLast((row) => !isPromotion(row))?.at;
  const promotedAt = rows.findLast(isPromotion)?.at;
  return {
    ...(restoredAt !== undefined && now - restoredAt < TOLD_MS && { restoredAt }),
    ...(promotedAt !== undefined && now - promotedAt < PROMOTION_TOLD_MS && { promotedAt }),
  };
}

/** When the last older copy was noticed, ms since epoch; undefined: never, or long ago. */
export async function restoredLately(
  store: KnownTrail,
  now = Date.now(),
): Promise<number | undefined> {
  return (await noticedLately(store, now)).restoredAt;
}
