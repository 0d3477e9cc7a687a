/**
 * Tables of runs and asks, projected from events in the transaction that stores them.
 * Invariants: total (no event can make an append fail); each change carries the seq that made it, so that
 * a reset undoes exactly what superseded events did; the status of a run under way follows from its
 * pending asks.
 */
import type { AskOutcome } from '../core/ask/ask.js';
import type { AskView, RunEvent } from '../core/event.js';
import { previewOf } from '../core/json.js';
import type { RunResult } from '../core/result.js';
import { beginningOf } from './blobs.js';
import { wellFormed } from './bounds.js';
import type { Db } from './database.js';
import { AWAITING, type LiveStatus } from './run-status.js';
import type { RunTable } from './schema.js';

interface RunKey {
  readonly tenant: string;
  readonly runId: string;
}

interface Fresh {
  /** Events that are new on the run's line, in order. */
  readonly events: readonly RunEvent[];
  /** Events from this seq on were superseded before these came. */
  readonly resetFrom?: number;
}

export async function project(tx: Db, run: RunKey, { events, resetFrom }: Fresh): Promise<void> {
  const stored = await readRow(tx, run);
  let row: RunTable = stored ?? emptyRow(run, events[0]?.stamp.at ?? 0);
  if (resetFrom !== undefined) row = await rewind(tx, row, resetFrom);
  let asksChanged = resetFrom !== undefined;
  for (const event of events) {
    row = { ...fold(row, event), last_seq: event.stamp.seq, updated_at: event.stamp.at };
    asksChanged = (await projectAsk(tx, run, event)) || asksChanged;
  }
  if (row.result_json === null && (asksChanged || stored === undefined)) {
    row = { ...row, status: await liveStatus(tx, run) };
  }
  if (stored === undefined) await tx.insertInto('runs').values(row).execute();
  else await writeChanges(tx, stored, row);
}

/** Only what changed: a column that is set is written into all its indexes, changed or not. */
async function writeChanges(tx: Db, stored: RunTable, row: RunTable): Promise<void> {
  const before = new Map<string, unknown>(Object.entries(stored));
  const changed = Object.entries(row).filter(([column, value]) => before.get(column) !== value);
  if (changed.length === 0) return;
  await tx
    .updateTable('runs')
    .set(Object.fromEntries(changed))
    .where('tenant', '=', row.tenant)
    .where('run_id', '=', row.run_id)
    .execute();
}

/** What an event says about its run. */
function fold(row: RunTable, event: RunEvent): RunTable {
  if (event.type === 'session_init') {
    return {
      ...row,
      agent: event.agent,
      task_id: event.taskId,
      goal_preview: wellFormed(beginningOf(previewOf(event.goal))),
      model: event.model,
      caller: event.caller ?? null,
      started_at: event.stamp.at,
    };
  }
  if (event.type !== 'run_result') return row;
  return { ...row, ...resultColumns(event.result, event.stamp.at), result_seq: event.stamp.seq };
}

function resultColumns(result: RunResult, at: number) {
  return {
    status: result.status,
    stop_reason: result.stopReason,
    detail: result.detail ?? null,
    cost_micro_usd: result.costMicroUsd,
    completed_at: at,
    result_json: JSON.stringify(result),
  };
}

const NO_RESULT = {
  stop_reason: null,
  detail: null,
  cost_micro_usd: null,
  completed_at: null,
  result_seq: null,
  result_json: null,
} as const;

/** True when the event changed asks. */
async function projectAsk(tx: Db, run: RunKey, event: RunEvent): Promise<boolean> {
  switch (event.type) {
    case 'approval_requested':
    case 'input_request':
      await openAsk(tx, run, event);
      return true;
    case 'approval_resolved':
      await closeAsks(tx, run, {
        event,
        askId: event.askId,
        outcome: event.outcome,
        by: event.by,
        reason: event.reason,
      });
      return true;
    case 'approval_withdrawn':
      await closeAsks(tx, run, {
        event,
        askId: event.askId,
        outcome: 'withdrawn',
        reason: event.reason,
      });
      return true;
    case 'input_provided':
      await closeAsks(tx, run, {
        event,
        askId: event.askId,
        outcome: event.outcome,
        by: event.by,
      });
      return true;
    case 'run_result':
      // Nobody can answer for a run that has ended.
      await closeAsks(tx, run, { event, outcome: 'withdrawn', reason: 'The run has ended.' });
      return true;
    default:
      return false;
  }
}

type Request = Extract<RunEvent, { type: 'approval_requested' | 'input_request' }>;

async function openAsk(tx: Db, { tenant, runId }: RunKey, event: Request): Promise<void> {
  const { type: _type, stamp, ...view } = event;
  const row = {
    tenant,
    run_id: runId,
    ask_id: view.askId,
    kind: view.kind,
    opened_at: view.openedAt,
    opened_seq: stamp.seq,
    view_json: JSON.stringify(view satisfies AskView),
    outcome: 'pending',
    by_json: '[]',
    reason: null,
    resolved_at: null,
    closed_seq: null,
  };
  await tx
    .insertInto('asks')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant', 'run_id', 'ask_id']).doUpdateSet(row))
    .execute();
}

interface Closing {
  readonly event: RunEvent;
  /** Absent: every ask of the run. */
  readonly askId?: string;
  readonly outcome: AskOutcome;
  readonly by?: readonly string[];
  readonly reason?: string | undefined;
}

/** A closed ask never changes. */
async function closeAsks(tx: Db, { tenant, runId }: RunKey, closing: Closing): Promise<void> {
  const { event, askId, outcome } = closing;
  const pending = tx
    .updateTable('asks')
    .set({
      outcome,
      by_json: JSON.stringify(closing.by ?? []),
      reason: closing.reason ?? null,
      resolved_at: event.stamp.at,
      closed_seq: event.stamp.seq,
    })
    .where('tenant', '=', tenant)
    .where('run_id', '=', runId)
    .where('outcome', '=', 'pending');
  await (askId === undefined ? pending : pending.where('ask_id', '=', askId)).execute();
}

/** Undoes what events from `fromSeq` on did. */
async function rewind(tx: Db, row: RunTable, fromSeq: number): Promise<RunTable> {
  const { tenant, run_id } = row;
  await tx
    .deleteFrom('asks')
    .where('tenant', '=', tenant)
    .where('run_id', '=', run_id)
    .where('opened_seq', '>=', fromSeq)
    .execute();
  await tx
    .updateTable('asks')
    .set({ outcome: 'pending', by_json: '[]', reason: null, resolved_at: null, closed_seq: null })
    .where('tenant', '=', tenant)
    .where('run_id', '=', run_id)
    .where('closed_seq', '>=', fromSeq)
    .execute();
  const ended = row.result_seq !== null && row.result_seq >= fromSeq;
  return { ...row, ...(ended ? NO_RESULT : {}), epoch: row.epoch + 1, last_seq: fromSeq - 1 };
}

async function liveStatus(tx: Db, { tenant, runId }: RunKey): Promise<LiveStatus> {
  const pending = await tx
    .selectFrom('asks')
    .select('kind')
    .distinct()
    .where('tenant', '=', tenant)
    .where('run_id', '=', runId)
    .where('outcome', '=', 'pending')
    .execute();
  const kinds = pending.map((ask) => ask.kind);
  return AWAITING.find(([kind]) => kinds.includes(kind))?.[1] ?? 'running';
}

async function readRow(tx: Db, { tenant, runId }: RunKey): Promise<RunTable | undefined> {
  return tx
    .selectFrom('runs')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('run_id', '=', runId)
    .executeTakeFirst();
}

function emptyRow({ tenant, runId }: RunKey, at: number): RunTable {
  return {
    tenant,
    run_id: runId,
    agent: '',
    task_id: '',
    goal_preview: '',
    model: '',
    caller: null,
    status: 'running',
    started_at: at,
    updated_at: at,
    last_seq: -1,
    epoch: 0,
    ...NO_RESULT,
  };
}
