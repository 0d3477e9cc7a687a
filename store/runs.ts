/** Reading the projected table of runs. `projection` alone writes it. */
import type { RunResult, StopReason } from '../core/state/result.js';
import { checkIdentifiers, checkWholeNumbers, listLimit } from './bounds.js';
import { change, type Db } from './database.js';
import { sql } from './query-builder.js';
import { PAUSED } from './goal-projection.js';
import type { StoredRunStatus } from './run-status.js';
import type { RunTable } from './schema.js';
import { forkColumns, forkedFrom, type ForkColumns, type ForkedFrom } from './fork-table.js';
import { namePiece, trailIn, type StoredTrail } from './trail-columns.js';
import { placeColumns, shownPlace, type PlaceColumns } from './tree-place.js';

export interface RunRow {
  readonly tenant: string;
  readonly runId: string;
  /** A goal; absent: a run. */
  readonly kind?: 'goal';
  /** Run id of the goal that it is a cycle of, or of the run that it is a sub-agent of. */
  readonly parent?: string;
  /** Of a sub-agent: run id of the root of its tree. */
  readonly root?: string;
  /** Of a sub-agent: names of the agents from the root to it, both among them. */
  readonly agentPath?: readonly string[];
  /** Of a fork: the run that it began from, and after which step. */
  readonly forked?: ForkedFrom;
  /** Agent, task, goal and model are '' until `session_init` is in the store. */
  readonly agent: string;
  readonly taskId: string;
  readonly goalPreview: string;
  readonly model: string;
  readonly caller?: string;
  readonly sessionId?: string;
  /** Why somebody should look at it: its cost or tokens kept doubling. */
  readonly alarm?: string;
  /** Newest message of its conversation, once it has ended. */
  readonly head?: string;
  readonly status: StoredRunStatus;
  readonly startedAt: number;
  /** Time of the newest event. */
  readonly updatedAt: number;
  readonly lastSeq: number;
  /** How often events of this run were superseded. */
  readonly epoch: number;
  readonly stopReason?: StopReason;
  readonly detail?: string;
  readonly costMicroUsd?: number;
  readonly completedAt?: number;
  readonly result?: RunResult;
  /** Of a goal that sleeps until a time: ms since epoch. */
  readonly nextWake?: number;
  /** Of a goal: what its cycles, reviews and judges have cost so far. */
  readonly spentMicroUsd?: number;
  readonly budgetMicroUsd?: number;
  /** Rules number that it began with; absent: before rules 15, or written by an older release. */
  readonly rules?: number;
  /** Absent: only its events tell it. */
  readonly trail?: StoredTrail;
}

export interface RunsQuery {
  /** Default 'run': goals are left out. */
  readonly kind?: 'run' | 'goal';
  /** Only cycles of this goal, or sub-agents of this run. */
  readonly parent?: string;
  /** Only sub-agents below this run. */
  readonly root?: string;
  /** Only forks of this run, and not theirs. */
  readonly forksOf?: string;
  readonly status?: StoredRunStatus;
  readonly agent?: string;
  /** Only runs that have ended and cost this much, in micro-USD. */
  readonly costFrom?: number;
  /** Only runs that have ended and cost no more than this, in micro-USD. */
  readonly costTo?: number;
  readonly stopReason?: string;
  /** Only runs that called this tool, in which a call failed with this code; beside them those whose events have to be asked. */
  readonly tool?: string;
  readonly errorCode?: string;
  readonly limit: number;
  /** The last row of the page before. */
  readonly before?: { readonly startedAt: number; readonly runId: string };
}

export interface Runs {
  /** Newest first, at most LIST_ROWS_MAX. */
  listRuns(tenant: string, query: RunsQuery): Promise<readonly RunRow[]>;
  /** The same of goals. */
  listGoals(tenant: string, query: Omit<RunsQuery, 'kind' | 'parent'>): Promise<readonly RunRow[]>;
  getRun(tenant: string, runId: string): Promise<RunRow | undefined>;
  /** Runs of all tenants with an alarm and an event since then, newest first, at most LIST_ROWS_MAX. */
  listAlarms(wanted: {
    readonly since: number;
    readonly limit: number;
  }): Promise<readonly RunRow[]>;
  /** Where the conversation of a run that ends is. A run without events is not there yet. */
  noteHead(run: {
    readonly tenant: string;
    readonly runId: string;
    readonly head: string;
  }): Promise<void>;
}

const NOTE_HEAD = `update runs set head = @head where tenant = @tenant and run_id = @runId`;

export function runs(db: Db): Runs {
  return {
    async listRuns(tenant, query) {
      checkIdentifiers({ tenant });
      return (await selectRuns(db, tenant, query).execute()).map(runRow);
    },
    async listGoals(tenant, query) {
      checkIdentifiers({ tenant });
      return (await selectRuns(db, tenant, { ...query, kind: 'goal' }).execute()).map(runRow);
    },
    async getRun(tenant, runId) {
      checkIdentifiers({ tenant, runId });
      const row = await db
        .selectFrom('runs')
        .selectAll()
        .select(placeColumns('runs'))
        .select(forkColumns())
        .where('tenant', '=', tenant)
        .where('run_id', '=', runId)
        .executeTakeFirst();
      return row === undefined ? undefined : runRow(row);
    },
    async listAlarms({ since, limit }) {
      checkWholeNumbers({ since });
      const rows = await db
        .selectFrom('runs')
        .selectAll()
        .where('alarm', 'is not', null)
        .where('updated_at', '>=', since)
        .orderBy('updated_at', 'desc')
        .limit(listLimit(limit))
        .execute();
      return rows.map(runRow);
    },
    async noteHead({ tenant, runId, head }) {
      checkIdentifiers({ tenant, runId, head });
      await change(db, NOTE_HEAD, { tenant, runId, head });
    },
  };
}

function selectRuns(db: Db, tenant: string, query: RunsQuery) {
  const { kind = 'run', parent, root, forksOf, status, agent, costFrom, costTo } = query;
  const { limit, before } = query;
  const { stopReason, tool, errorCode } = query;
  let rows = db
    .selectFrom('runs')
    .selectAll()
    .select(placeColumns('runs'))
    .select(forkColumns())
    .where('tenant', '=', tenant)
    .where('kind', '=', kind);
  if (parent !== undefined) rows = rows.where('parent', '=', parent);
  if (root !== undefined) rows = rows.where('root', '=', root);
  if (forksOf !== undefined) {
    rows = rows.where('run_id', 'in', (eb) =>
      eb
        .selectFrom('forks')
        .select('forks.run_id')
        .where('forks.tenant', '=', tenant)
        .where('forks.parent', '=', forksOf),
    );
  }
  if (status !== undefined) rows = rows.where('status', '=', status);
  if (agent !== undefined) rows = rows.where('agent', '=', agent);
  if (costFrom !== undefined) {
    checkWholeNumbers({ costFrom });
    rows = rows.where('cost_micro_usd', '>=', costFrom);
  }
  if (costTo !== undefined) {
    checkWholeNumbers({ costTo });
    rows = rows.where('cost_micro_usd', '<=', costTo);
  }
  if (stopReason !== undefined) rows = rows.where('stop_reason', '=', stopReason);
  if (tool !== undefined) rows = rows.where(mayHave('tools_used', tool));
  if (errorCode !== undefined) rows = rows.where(mayHave('error_codes', errorCode));
  if (before !== undefined) {
    const { startedAt, runId } = before;
    checkWholeNumbers({ startedAt });
    rows = rows.where((eb) =>
      eb.or([
        eb('started_at', '<', startedAt),
        eb.and([eb('started_at', '=', startedAt), eb('run_id', '<', runId)]),
      ]),
    );
  }
  return rows.orderBy('started_at', 'desc').orderBy('run_id', 'desc').limit(listLimit(limit));
}

/** `like` would find other letters as well, and take some of them for patterns. */
function mayHave(column: 'tools_used' | 'error_codes', name: string) {
  const piece = namePiece(name);
  return sql<boolean>`(tools_used is null or replace(${sql.ref(column)}, ${piece}, '') <> ${sql.ref(column)})`;
}

function runRow(row: RunTable & Partial<PlaceColumns & ForkColumns>): RunRow {
  return {
    tenant: row.tenant,
    runId: row.run_id,
    agent: row.agent,
    taskId: row.task_id,
    goalPreview: row.goal_preview,
    model: row.model,
    status: row.status as StoredRunStatus,
    startedAt: row.started_at,
    updatedAt: row.updated_at,
    lastSeq: row.last_seq,
    epoch: row.epoch,
    ...(row.caller === null ? {} : { caller: row.caller }),
    ...(row.session_id === null ? {} : { sessionId: row.session_id }),
    ...(row.head === null ? {} : { head: row.head }),
    ...(row.alarm === null ? {} : { alarm: row.alarm }),
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.root === null ? {} : { root: row.root }),
    ...shownPlace(row),
    ...(row.rules === null ? {} : { rules: row.rules }),
    ...shownTrail(row),
    ...forkedFrom(row),
    ...(row.kind === 'goal' ? goalFields(row) : {}),
    ...(row.result_json === null ? {} : resultFields(row, row.result_json)),
  };
}

function shownTrail(row: RunTable): Pick<RunRow, 'trail'> {
  const trail = trailIn(row);
  return trail === undefined ? {} : { trail };
}

function goalFields(row: RunTable): Partial<RunRow> {
  // A paused goal wakes by nothing but its resume, and may go on sleeping then.
  const isPaused = row.detail?.startsWith(PAUSED) === true;
  return {
    kind: 'goal',
    ...(row.detail === null ? {} : { detail: row.detail }),
    ...(row.next_wake === null || isPaused ? {} : { nextWake: row.next_wake }),
    ...(row.spent_micro_usd === null ? {} : { spentMicroUsd: row.spent_micro_usd }),
    ...(row.budget_micro_usd === null ? {} : { budgetMicroUsd: row.budget_micro_usd }),
  };
}

function resultFields(row: RunTable, json: string) {
  return {
    stopReason: row.stop_reason as StopReason,
    costMicroUsd: row.cost_micro_usd ?? 0,
    completedAt: row.completed_at ?? row.updated_at,
    result: JSON.parse(json) as RunResult,
    ...(row.detail === null ? {} : { detail: row.detail }),
  };
}
