/**
 * One row per request that leaves for a model or a tool, written before it leaves: what
 * it may cost, then what it did cost.
 * Invariants: attempts of an effect are numbered from 1 without gaps; the first ending of an attempt stays.
 */
import { addUsage } from '../core/money/budget.js';
import { NO_USAGE, type Usage } from '../core/state/model.js';
import { checkIdentifiers, LIST_ROWS_MAX } from './bounds.js';
import { change, rowsOf, type Db } from './database.js';
import type { AttemptTable } from './schema.js';

export type AttemptOutcome = 'ok' | 'failed' | 'lost';

export interface AttemptStart {
  readonly tenant: string;
  readonly runId: string;
  readonly effectId: string;
  /** Not by the loop a model was asked for a summary (`compaction`), a judgement or a review of a goal, or a look of a supervisor. */
  readonly kind: 'model' | 'tool' | 'compaction' | 'judge' | 'review' | 'supervision';
  readonly boundCostMicroUsd: number;
  readonly boundInputTokens: number;
  readonly boundOutputTokens: number;
  /** ms since epoch. */
  readonly startedAt: number;
}

export interface AttemptEnd {
  readonly outcome: AttemptOutcome;
  readonly code?: string;
  readonly usage?: Usage;
  readonly costMicroUsd?: number;
  /** Usage and cost are our estimate: the vendor told nothing. */
  readonly estimated: boolean;
  /** ms since epoch. */
  readonly finishedAt: number;
}

export type AttemptRow = Omit<AttemptStart, 'tenant' | 'runId' | 'effectId'> & {
  readonly attempt: number;
  /** Absent: still running, or lost with its process. */
  readonly end?: AttemptEnd;
};

export type AttemptFinish = AttemptEnd & {
  readonly tenant: string;
  readonly runId: string;
  readonly effectId: string;
  readonly attempt: number;
};

export interface Attempts {
  /** Gives the attempt's number, from 1. */
  startAttempt(start: AttemptStart): Promise<number>;
  /** False: there is no such attempt, or it has ended before. */
  finishAttempt(finish: AttemptFinish): Promise<boolean>;
  /** In order, at most LIST_ROWS_MAX. */
  listAttempts(tenant: string, runId: string, effectId: string): Promise<readonly AttemptRow[]>;
  /** Tokens of all questions of the run to models; of one without an ending, its bound. */
  attemptedUsage(tenant: string, runId: string): Promise<Usage>;
}

const START = `
  insert into attempts (tenant, run_id, effect_id, attempt, kind, bound_cost_micro_usd,
    bound_input_tokens, bound_output_tokens, started_at, estimated)
  select @tenant, @runId, @effectId, coalesce(max(attempt), 0) + 1, @kind, @boundCostMicroUsd,
    @boundInputTokens, @boundOutputTokens, @startedAt, 0
  from attempts where tenant = @tenant and run_id = @runId and effect_id = @effectId
  returning attempt`;

const FINISH = `
  update attempts set outcome = @outcome, code = @code, usage_json = @usage,
    cost_micro_usd = @costMicroUsd, estimated = @estimated, finished_at = @finishedAt
  where tenant = @tenant and run_id = @runId and effect_id = @effectId and attempt = @attempt
    and outcome is null`;

const LIST = `
  select * from attempts where tenant = @tenant and run_id = @runId and effect_id = @effectId
  order by attempt limit ${LIST_ROWS_MAX}`;

const USED = `
  select usage_json, outcome, count(*) as times,
    sum(bound_input_tokens) as input, sum(bound_output_tokens) as output
  from attempts where tenant = @tenant and run_id = @runId
  group by usage_json, outcome`;

interface UsedRow extends Pick<AttemptTable, 'usage_json' | 'outcome'> {
  readonly times: unknown;
  readonly input: unknown;
  readonly output: unknown;
}

export function attempts(db: Db): Attempts {
  return {
    async startAttempt(start) {
      const { tenant, runId, effectId } = start;
      checkIdentifiers({ tenant, runId, effectId });
      const [row] = await rowsOf<Pick<AttemptTable, 'attempt'>>(db, START, { ...start });
      return row?.attempt ?? 1;
    },
    async finishAttempt(finish) {
      const { tenant, runId, effectId, attempt, outcome, finishedAt } = finish;
      const { code = null, costMicroUsd = null } = finish;
      checkIdentifiers({ tenant, runId, effectId });
      const changed = await change(db, FINISH, {
        tenant,
        runId,
        effectId,
        attempt,
        outcome,
        code,
        costMicroUsd,
        finishedAt,
        usage: finish.usage === undefined ? null : JSON.stringify(finish.usage),
        estimated: finish.estimated ? 1 : 0,
      });
      return changed > 0;
    },
    async listAttempts(tenant, runId, effectId) {
      checkIdentifiers({ tenant, runId, effectId });
      const rows = await rowsOf<AttemptTable>(db, LIST, { tenant, runId, effectId });
      return rows.map(attemptRow);
    },
    async attemptedUsage(tenant, runId) {
      checkIdentifiers({ tenant, runId });
      const rows = await rowsOf<UsedRow>(db, USED, { tenant, runId });
      return rows.map(usageOf).reduce(addUsage, NO_USAGE);
    },
  };
}

function usageOf({ usage_json: json, outcome, ...row }: UsedRow): Usage {
  if (outcome === null)
    return { ...NO_USAGE, input: Number(row.input), output: Number(row.output) };
  if (json === null) return NO_USAGE;
  const { input, output, cacheRead, cacheWrite } = JSON.parse(json) as Usage;
  const times = Number(row.times);
  return {
    input: input * times,
    output: output * times,
    cacheRead: cacheRead * times,
    cacheWrite: cacheWrite * times,
  };
}

function attemptRow(row: AttemptTable): AttemptRow {
  return {
    attempt: row.attempt,
    kind: row.kind as AttemptRow['kind'],
    boundCostMicroUsd: row.bound_cost_micro_usd,
    boundInputTokens: row.bound_input_tokens,
    boundOutputTokens: row.bound_output_tokens,
    startedAt: row.started_at,
    ...(row.outcome === null ? {} : { end: attemptEnd(row, row.outcome) }),
  };
}

function attemptEnd(row: AttemptTable, outcome: string): AttemptEnd {
  return {
    outcome: outcome as AttemptOutcome,
    estimated: row.estimated === 1,
    finishedAt: row.finished_at ?? row.started_at,
    ...(row.code === null ? {} : { code: row.code }),
    ...(row.usage_json === null ? {} : { usage: JSON.parse(row.usage_json) as Usage }),
    ...(row.cost_micro_usd === null ? {} : { costMicroUsd: row.cost_micro_usd }),
  };
}
