/**
 * The freeze switch's memory.
 * Invariants: rows are never deleted and, but for their lifting, never changed; who froze and lifted is in the
 * audit trail, by the same commit; whoever reads what is in
 * force inside a transaction that claims cannot miss a freeze that has been set before it commits.
 */
import type { Freeze, FreezeScope } from '../pure/freeze.js';
import type { AuditEntry } from '../pure/audit.js';
import { appendEntries } from './audit.js';
import { checkIdentifiers, LIST_ROWS_MAX, listLimit } from './bounds.js';
import { change, holdFreezes, immediate, rowsOf, type Db } from './database.js';
import type { FreezeTable } from './schema.js';

/** Freezes of one tenant that can be in force at once; claims read all of them. */
export const FREEZES_MAX = 100;

export interface Freezes {
  /** The same id again changes nothing. False: there are FREEZES_MAX in force already. */
  setFreeze(tenant: string, freeze: Freeze): Promise<boolean>;
  /** False: it is unknown, lifted, or has ended by itself. */
  liftFreeze(
    tenant: string,
    lifting: {
      readonly id: string;
      readonly at: number;
      readonly by: string;
      readonly reason?: string;
    },
  ): Promise<boolean>;
  /** Those in force at this moment, oldest first. */
  freezesInForce(tenant: string, at: number): Promise<readonly Freeze[]>;
  /** All that ever were, newest first. */
  listFreezes(tenant: string, limit?: number): Promise<readonly Freeze[]>;
}

const SET = `
  insert into freezes (tenant, freeze_id, kind, pattern, frozen_by, reason, frozen_at, until)
  values (@tenant, @id, @kind, @pattern, @by, @reason, @at, @until)`;

const KNOWN = `select 1 from freezes where tenant = @tenant and freeze_id = @id`;

const LIFT = `
  update freezes set lifted_at = @at, lifted_by = @by, lift_reason = @reason
  where tenant = @tenant and freeze_id = @id and lifted_at is null
    and (until is null or until > @at)`;

const IN_FORCE = `
  select * from freezes where tenant = @tenant and lifted_at is null
    and (until is null or until > @at)
  order by frozen_at, freeze_id limit ${LIST_ROWS_MAX}`;

export function freezes(db: Db): Freezes {
  return {
    async setFreeze(tenant, freeze) {
      const { id, scope, by, reason, at, until = null } = freeze;
      checkIdentifiers({ tenant, id, by, reason, scope: patternOf(scope) });
      return immediate(db, async (tx) => {
        await holdFreezes(tx, tenant, 'alone');
        // Set before under this id: it is the same one, and was told then.
        if ((await rowsOf(tx, KNOWN, { tenant, id })).length > 0) return true;
        if ((await rowsOf(tx, IN_FORCE, { tenant, at })).length >= FREEZES_MAX) return false;
        const pattern = patternOf(scope);
        const values = { tenant, id, kind: scope.kind, pattern, by, reason, at, until };
        await change(tx, SET, values);
        appendEntries(tx, tenant, [frozen(freeze)]);
        return true;
      });
    },
    async liftFreeze(tenant, { id, at, by, reason = null }) {
      checkIdentifiers({ tenant, id, by, ...(reason !== null && { reason }) });
      return immediate(db, async (tx) => {
        if ((await change(tx, LIFT, { tenant, id, at, by, reason })) === 0) return false;
        const facts = { freeze: id, ...(reason !== null && { reason }) };
        appendEntries(tx, tenant, [{ at, kind: 'thawed', by, facts }]);
        return true;
      });
    },
    async freezesInForce(tenant, at) {
      checkIdentifiers({ tenant });
      await holdFreezes(db, tenant, 'shared');
      return (await rowsOf<FreezeTable>(db, IN_FORCE, { tenant, at })).map(freezeOf);
    },
    async listFreezes(tenant, limit = LIST_ROWS_MAX) {
      checkIdentifiers({ tenant });
      const rows = await db
        .selectFrom('freezes')
        .selectAll()
        .where('tenant', '=', tenant)
        .orderBy('frozen_at', 'desc')
        .orderBy('freeze_id', 'desc')
        .limit(listLimit(limit))
        .execute();
      return rows.map(freezeOf);
    },
  };
}

function frozen({ id, scope, by, reason, at, until }: Freeze): AuditEntry {
  const facts = { freeze: id, ...scope, reason, ...(until !== undefined && { until }) };
  return { at, kind: 'frozen', by, facts };
}

function patternOf(scope: FreezeScope): string {
  switch (scope.kind) {
    case 'tool':
      return scope.pattern;
    case 'agent':
      return scope.agent;
    case 'tenant':
      return '*';
  }
}

function scopeOf({ kind, pattern }: FreezeTable): FreezeScope {
  if (kind === 'tool') return { kind, pattern };
  // What a newer release may call otherwise stands for everything: a freeze never shrinks by itself.
  return kind === 'agent' ? { kind, agent: pattern } : { kind: 'tenant' };
}

function freezeOf(row: FreezeTable): Freeze {
  return {
    id: row.freeze_id,
    scope: scopeOf(row),
    by: row.frozen_by,
    reason: row.reason,
    at: row.frozen_at,
    ...(row.until === null ? {} : { until: row.until }),
    ...(row.lifted_at === null
      ? {}
      : {
          lifted: {
            at: row.lifted_at,
            by: row.lifted_by ?? '',
            ...(row.lift_reason === null ? {} : { reason: row.lift_reason }),
          },
        }),
  };
}
