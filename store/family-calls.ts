/** What the family of a run gave to executors before the run is forked: all of it, whatever the fork then asks for. */
import type { EarlierEffect } from '../core/controls/repeats.js';
import { lineOf } from '../pure/goal/child-start.js';
import { checkIdentifiers, listLimit } from './bounds.js';
import { rowsOf, type Db } from './database.js';
import { COUNTS, earlierOf, IS_TOLD, MEMBERS, topOfFamily, type FoundCall } from './fork-family.js';

export type FamilyCall = Pick<EarlierEffect, 'key' | 'runId' | 'tool' | 'at' | 'state'>;

export interface FamilyCalls {
  /**
   * Calls of the other runs of the family that this run's forks would belong to: of its tree, of forks of that and of one
   * another, and of what is below those. The newest first, at most LIST_ROWS_MAX.
   */
  callsOfFamily(tenant: string, runId: string, limit: number): Promise<FoundFamilyCalls>;
}

export interface FoundFamilyCalls {
  readonly calls: readonly FamilyCall[];
  /** There are more than these. */
  readonly more: boolean;
}

export function familyCalls(db: Db): FamilyCalls {
  return {
    async callsOfFamily(tenant, runId, limit) {
      checkIdentifiers({ tenant, runId });
      // As `putFork` finds it for a fork of this run.
      const top = (await topOfFamily(db, tenant, runId)) ?? lineOf(runId).at(-1) ?? runId;
      const shown = listLimit(limit);
      const values = { tenant, top, runId, limit: shown + 1 };
      const rows = await rowsOf<FoundCall & { readonly tool: string }>(db, OTHERS, values);
      const calls = rows.slice(0, shown).map((row) => {
        const { approvedBy: _, ...call } = earlierOf(row, row.tool);
        return call;
      });
      return { calls, more: rows.length > shown };
    },
  };
}

// The primary key of recorded_calls finds both: a member itself, and what lies between ':' and ';' behind its id.
const OTHERS = `${MEMBERS}
  told(run_id, key, tool, done, at, args_digest, plain_digest) as (
    select recorded_calls.run_id, key, tool, done, at, args_digest, plain_digest
    from members join recorded_calls on recorded_calls.run_id = members.id
    where recorded_calls.tenant = @tenant
    union select recorded_calls.run_id, key, tool, done, at, args_digest, plain_digest
    from members join recorded_calls
      on recorded_calls.run_id > members.id || ':' and recorded_calls.run_id < members.id || ';'
    where recorded_calls.tenant = @tenant
  ),
  calls as (
    select key, run_id, tool, state, ${IS_TOLD} as told, args_digest,
      coalesce(plain_digest, (select max(told.plain_digest) from told
        where told.run_id = ledger.run_id and told.key = ledger.key)) as plain_digest,
      coalesce((select max(told.at) from told
        where told.run_id = ledger.run_id and told.key = ledger.key), claimed_until) as at
    from ledger
    where tenant = @tenant and run_id in (select id from members)
    union all
    select key, run_id, tool, case done when 1 then 'recorded' else 'handed_over' end as state,
      0 as told, args_digest, plain_digest, at
    from told
    where not exists (select 1 from ledger
        where ledger.tenant = @tenant and ledger.key = told.key)
  )
  select key, run_id, tool, state, at from calls
  where run_id <> @runId and ${COUNTS} order by at desc, key limit @limit`;
