/**
 * What the cycles of a goal did, and what they cost, as ledger and attempts have it.
 * Invariants: an effect is new in the first cycle that recorded it, and in no later one, also when it is asked again;
 * nothing is read of runs that are not named.
 */
import { checkIdentifiers, checkWholeNumbers, LIST_ROWS_MAX } from './bounds.js';
import { change, rowsOf, type Db } from './database.js';

export interface GoalCycle {
  readonly tenant: string;
  readonly goal: string;
  /** Number of the cycle. */
  readonly cycle: number;
}

/** What the attempts of a run cost, in micro-USD. */
export interface AttemptedCost {
  readonly costMicroUsd: number;
  /** Of attempts of which nobody has heard: they are in the cost by their bounds. */
  readonly unheard: number;
  readonly replies: number;
}

export interface GoalEffects {
  /** Keys of what the child recorded with a tool and arguments that no earlier cycle of the goal had. */
  noteEffects(cycle: GoalCycle & { readonly child: string }): Promise<readonly string[]>;
  /** What an earlier goal did is not new to the one that goes on with it. */
  inheritEffects(of: {
    readonly tenant: string;
    readonly from: string;
    readonly goal: string;
  }): Promise<void>;
  /** How many effects of the run were claimed and have an end that nobody knows. */
  countDoubtful(tenant: string, runId: string): Promise<number>;
  attemptedCost(tenant: string, runId: string): Promise<AttemptedCost>;
}

const NOTE = `
  insert into goal_effects (tenant, goal, args_digest, cycle, key)
  select tenant, @goal, args_digest, cast(@cycle as bigint), min(key) from ledger
  where tenant = @tenant and run_id = @child and state = 'recorded'
  group by tenant, args_digest
  on conflict (tenant, goal, args_digest) do nothing`;

const NOTED = `
  select key from goal_effects where tenant = @tenant and goal = @goal and cycle = @cycle
  order by key limit ${LIST_ROWS_MAX}`;

const INHERIT = `
  insert into goal_effects (tenant, goal, args_digest, cycle, key)
  select tenant, @goal, args_digest, 0, key from goal_effects
  where tenant = @tenant and goal = @from
  on conflict (tenant, goal, args_digest) do nothing`;

// What a person or a probe said did not happen is released, or void by the tool's own word.
const DOUBTFUL = `
  select count(*) as count from ledger l
  where l.tenant = @tenant and l.run_id = @runId and l.state in ('claimed', 'void')
    and l.was_claimed = 1 and l.definite = 0 and not exists (
      select 1 from effects e where e.tenant = l.tenant and e.key = l.key and e.released = 1)`;

const COST = `
  select
    sum(case when outcome is null then bound_cost_micro_usd else coalesce(cost_micro_usd, 0) end) as cost,
    sum(case when outcome is null then 1 else 0 end) as unheard,
    sum(case when kind = 'model' and outcome = 'ok' then 1 else 0 end) as replies
  from attempts where tenant = @tenant and run_id = @runId`;

export function goalEffects(db: Db): GoalEffects {
  return {
    async noteEffects({ tenant, goal, cycle, child }) {
      checkIdentifiers({ tenant, goal, child });
      checkWholeNumbers({ cycle });
      await change(db, NOTE, { tenant, goal, cycle, child });
      const rows = await rowsOf<{ readonly key: string }>(db, NOTED, { tenant, goal, cycle });
      return rows.map(({ key }) => key);
    },
    async inheritEffects({ tenant, from, goal }) {
      checkIdentifiers({ tenant, from, goal });
      await change(db, INHERIT, { tenant, from, goal });
    },
    async countDoubtful(tenant, runId) {
      checkIdentifiers({ tenant, runId });
      const [row] = await rowsOf<{ readonly count: unknown }>(db, DOUBTFUL, { tenant, runId });
      return Number(row?.count ?? 0);
    },
    async attemptedCost(tenant, runId) {
      checkIdentifiers({ tenant, runId });
      const [row] = await rowsOf<Partial<Record<'cost' | 'unheard' | 'replies', unknown>>>(
        db,
        COST,
        { tenant, runId },
      );
      return {
        costMicroUsd: Number(row?.cost ?? 0),
        unheard: Number(row?.unheard ?? 0),
        replies: Number(row?.replies ?? 0),
      };
    },
  };
}
