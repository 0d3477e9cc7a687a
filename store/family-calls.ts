/** What the family of a run gave to executors before the run is forked: all of it, whatever the fork then asks for. */
import type { EarlierEffect } from '../core/controls/repeats.js';
import { lineOf } from '../pure/goal/child-start.js';
import { checkIdentifiers, listLimit } from './bounds.js';
import { rowsOf, type Db } from './database.js';
import { earlierOf, MEMBERS, topOfFamily, type FoundCall } from './fork-family.js';

export type FamilyCall = Pick<EarlierEffect, 'key' | 'runId' | 'tool' | 'at' | 'state'>;

export interface FamilyCalls {
  /**
   * Calls of the other runs of the family that this run's forks would belong to: of its tree, of forks of that and of one
   * another, and of what is below those. The newest first, at most LIST_ROWS_MAX.
   */
  callsOfFamily(tenant: string, runId: string, limit: number): Promise<readonly FamilyCall[]>;
}

export function familyCalls(db: Db): FamilyCalls {
  return {
    async callsOfFamily(tenant, runId, limit) {
      checkIdentifiers({ tenant, runId });
      // As `putFork` finds it for a fork of this run.
      const top = (await topOfFamily(db, tenant, runId)) ?? lineOf(runId).at(-1) ?? runId;
      const values = { tenant, top, runId, limit: listLimit(limit) };
      const rows = await rowsOf<FoundCall & { readonly tool: string }>(db, OTHERS, values);
      return rows.map((row) => {
        const { approvedBy: _, ...call } = earlierOf(row, row.tool);
        return call;
      });
    },
  };
}

const OTHERS = `${MEMBERS}
  calls as (
    select key, run_id, tool, state, claimed_until as at from ledger
    where tenant = @tenant and run_id <> @runId and run_id in (select id from members)
    union all
    select key, run_id, tool, case done when 1 then 'recorded' else 'handed_over' end as state, at
    from recorded_calls
    where tenant = @tenant and run_id <> @runId
      and exists (select 1 from members where members.id = recorded_calls.run_id
        or substr(recorded_calls.run_id, 1, length(members.id) + 1) = members.id || ':')
      and not exists (select 1 from ledger
        where ledger.tenant = recorded_calls.tenant and ledger.key = recorded_calls.key)
  )
  select key, run_id, tool, state, at from calls order by at desc, key limit @limit`;
