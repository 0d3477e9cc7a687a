/**
 * Public keys of the desk: which signatures count, now. Rotation adds a key and retires the one before it,
 * whose signatures still count; a revoked key's count no more, from the next claim on.
 * Invariants: a key id means one key for ever; what was revoked stays revoked; every change is audited.
 */
import { DESK_KEYS_MAX, type DeskKey } from '../core/state/statement.js';
import { HoldfastError } from '../core/state/errors.js';
import { appendEntries } from './audit.js';
import { checkIdentifiers } from './bounds.js';
import { immediate, type Db } from './database.js';
import type { DeskKeyTable } from './schema.js';

/** Keys of this tenant count for all tenants. */
export const ALL_TENANTS = '*';

export type DeskKeyState = 'active' | 'retired' | 'revoked';

export interface DeskKeyRow extends DeskKey {
  readonly tenant: string;
  readonly state: DeskKeyState;
  readonly addedAt: number;
  readonly changedAt: number;
}

export interface DeskKeyChange {
  /** A tenant, or ALL_TENANTS. */
  readonly tenant: string;
  readonly kid: string;
  readonly at: number;
  readonly by: string;
}

export interface DeskKeys {
  /** Keys whose signatures count for this tenant, newest first, at most DESK_KEYS_MAX. */
  deskKeys(tenant: string): Promise<readonly DeskKey[]>;
  /** All of a tenant's own, newest first; those of ALL_TENANTS with them. */
  listDeskKeys(tenant: string): Promise<readonly DeskKeyRow[]>;
  /**
   * Adding the same key again changes nothing. Errors: `InvalidRequest` for an id that is another key's, and for a
   * key that was revoked.
   */
  addDeskKey(change: DeskKeyChange & { readonly key: string }): Promise<void>;
  /** False: there is no such key, or it was revoked before. */
  changeDeskKey(change: DeskKeyChange & { readonly to: 'retired' | 'revoked' }): Promise<boolean>;
}

export function deskKeys(db: Db): DeskKeys {
  return {
    async deskKeys(tenant) {
      checkIdentifiers({ tenant });
      const rows = await rowsFor(db, tenant)
        .where('state', '<>', 'revoked')
        .limit(DESK_KEYS_MAX)
        .execute();
      return rows.map(({ kid, public_key: key }) => ({ kid, key }));
    },
    async listDeskKeys(tenant) {
      checkIdentifiers({ tenant });
      return (await rowsFor(db, tenant).execute()).map(keyRow);
    },
    async addDeskKey(change) {
      checkIdentifiers({ tenant: change.tenant, kid: change.kid });
      await immediate(db, (tx) => add(tx, change));
    },
    async changeDeskKey(change) {
      checkIdentifiers({ tenant: change.tenant, kid: change.kid });
      return immediate(db, (tx) => alter(tx, change));
    },
  };
}

function rowsFor(db: Db, tenant: string) {
  return db
    .selectFrom('desk_keys')
    .selectAll()
    .where('tenant', 'in', [tenant, ALL_TENANTS])
    .orderBy('added_at', 'desc')
    .orderBy('kid');
}

async function add(
  tx: Db,
  { tenant, kid, key, at, by }: DeskKeyChange & { readonly key: string },
): Promise<void> {
  const known = await tx
    .selectFrom('desk_keys')
    .select(['public_key', 'state'])
    .where('kid', '=', kid)
    .executeTakeFirst();
  if (known !== undefined && known.public_key !== key) {
    throw new HoldfastError('InvalidRequest', `The key id ${kid} is another key's.`, {
      hint: 'Make a new key; its id is made of it.',
    });
  }
  if (known?.state === 'revoked') {
    throw new HoldfastError(
      'InvalidRequest',
      `The key ${kid} was revoked: it never counts again.`,
      {
        hint: 'Make another with `holdfast keys rotate`, then restart the console.',
      },
    );
  }
  if (known !== undefined) return;
  await tx
    .insertInto('desk_keys')
    .values({ tenant, kid, public_key: key, state: 'active', added_at: at, changed_at: at })
    .execute();
  appendEntries(tx, tenant, [{ at, kind: 'key_added', by, facts: { kid, key } }]);
}

async function alter(
  tx: Db,
  { tenant, kid, at, by, to }: DeskKeyChange & { readonly to: 'retired' | 'revoked' },
): Promise<boolean> {
  const changed = await tx
    .updateTable('desk_keys')
    .set({ state: to, changed_at: at })
    .where('tenant', '=', tenant)
    .where('kid', '=', kid)
    .where('state', 'not in', to === 'retired' ? ['revoked', 'retired'] : ['revoked'])
    .executeTakeFirst();
  if (changed.numUpdatedRows === 0n) return false;
  appendEntries(tx, tenant, [{ at, kind: `key_${to}`, by, facts: { kid } }]);
  return true;
}

function keyRow(row: DeskKeyTable): DeskKeyRow {
  const { tenant, kid, public_key: key, state, added_at: addedAt, changed_at: changedAt } = row;
  return { tenant, kid, key, state: state as DeskKeyState, addedAt, changedAt };
}
