/**
 * The table of runs, and with it that of asks, projected from events in the transaction that stores them.
 * Invariants: total (no event can make an append fail); each change carries the seq that made it, so that
 * a reset undoes exactly what superseded events did; the status of a run under way follows from its
 * pending asks.
 */
import type { EventType, RunEvent } from '../core/state/event.js';
import { auditOf } from '../pure/audit-events.js';
import { previewOf } from '../core/json/json.js';
import type { RunResult } from '../core/state/result.js';
import { liveStatus, projectAsk, rewindAsks, type RunKey } from './ask-projection.js';
import { appendEntries } from './audit.js';
import { beginningOf } from './blobs.js';
import { wellFormed } from './bounds.js';
import { change, rowsOf, type Db } from './database.js';
import { foldGoal, GOAL_TELLS, NO_GOAL, rewoundGoal } from './goal-projection.js';
import type { ChildTable, RunTable } from './schema.js';
import {
  EMPTY_TRAIL,
  foldTrail,
  isOfCall,
  TRAIL_OF_ONE,
  trailOfOne,
  UNKNOWN_TRAIL,
} from './trail-columns.js';
import { noteMessages } from './user-messages.js';

interface Fresh {
  /** Events that are new on the run's line, in order. */
  readonly events: readonly RunEvent[];
  /** Events from this seq on were superseded before these came. */
  readonly resetFrom?: number;
}

/** Events that say more of their run than that it went on. */
const TELLING: ReadonlySet<EventType> = new Set([
  'session_init',
  'approval_requested',
  'approval_resolved',
  'approval_withdrawn',
  'input_request',
  'input_provided',
  'stop',
  'run_result',
  ...GOAL_TELLS,
]);

type Alarm = Extract<RunEvent, { type: 'warning' }>;

function isAlarm(event: RunEvent): event is Alarm {
  return event.type === 'warning' && event.code === 'cost_exploding';
}

export async function project(tx: Db, run: RunKey, fresh: Fresh): Promise<void> {
  auditEvents(tx, run, fresh.events);
  await noteMessages(tx, run, fresh);
  const last = fresh.events.at(-1);
  const tells =
    fresh.resetFrom !== undefined ||
    fresh.events.some((event) => TELLING.has(event.type) || isAlarm(event));
  if (last !== undefined && !tells && (await goesOn(tx, run, { ...fresh, last }))) return;
  await projectWhole(tx, run, fresh);
}

/** The trail is only added to: what a reset takes back was said all the same. */
function auditEvents(tx: Db, { tenant }: RunKey, fresh: Fresh['events']): void {
  const entries = fresh.flatMap(auditOf);
  appendEntries(tx, tenant, entries);
}

const OF_RUN = `where tenant = @tenant and run_id = @runId`;
const GOES_ON = `update runs set last_seq = @seq, updated_at = @at ${OF_RUN}`;
const GOES_ON_WITH_CALLS = `update runs set last_seq = @seq, updated_at = @at, ${TRAIL_OF_ONE} ${OF_RUN}`;

type Going = Pick<Fresh, 'events'> & { readonly last: RunEvent };

/** What most batches do to their run, without reading its row. False: it has none yet, or must be read. */
async function goesOn(tx: Db, run: RunKey, { events, last }: Going): Promise<boolean> {
  const { tenant, runId } = run;
  const { seq, at } = last.stamp;
  const values = { tenant, runId, seq, at };
  const calls = events.filter(isOfCall);
  if (calls.length === 0) return (await change(tx, GOES_ON, values)) > 0;
  const trail = trailOfOne(calls);
  if (trail === undefined) return false;
  return (await change(tx, GOES_ON_WITH_CALLS, { ...values, ...trail })) > 0;
}

async function projectWhole(tx: Db, run: RunKey, { events, resetFrom }: Fresh): Promise<void> {
  const stored = await readRow(tx, run);
  let row: RunTable = stored ?? (await emptyRow(tx, run, events[0]?.stamp.at ?? 0));
  if (resetFrom !== undefined) row = await rewind(tx, row, resetFrom);
  let asksChanged = resetFrom !== undefined;
  for (const event of events) {
    row = {
      ...foldTrail(fold(row, event), event),
      last_seq: event.stamp.seq,
      updated_at: event.stamp.at,
    };
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
      session_id: event.sessionId ?? null,
      rules: event.rules ?? null,
      started_at: event.stamp.at,
    };
  }
  if (isAlarm(event) && row.alarm === null) {
    return { ...row, alarm: wellFormed(event.message), alarm_seq: event.stamp.seq };
  }
  if (event.type !== 'run_result' && event.type !== 'goal_result') return foldGoal(row, event);
  const ended = { ...resultColumns(event.result, event.stamp.at), result_seq: event.stamp.seq };
  // Of goals of older rules no event tells the cost of judges and reviews, the result alone.
  const spent = event.type === 'goal_result' && { spent_micro_usd: event.result.costMicroUsd };
  return { ...row, ...ended, ...spent, next_wake: null };
}

function resultColumns(result: RunResult, at: number) {
  return {
    status: result.status,
    stop_reason: result.stopReason,
    detail: result.detail === undefined ? null : wellFormed(result.detail),
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

const NO_ALARM = { alarm: null, alarm_seq: null } as const;

/** Undoes what events from `fromSeq` on did. */
async function rewind(tx: Db, row: RunTable, fromSeq: number): Promise<RunTable> {
  await rewindAsks(tx, { tenant: row.tenant, runId: row.run_id }, fromSeq);
  const ended = row.result_seq !== null && row.result_seq >= fromSeq;
  const alarmed = row.alarm_seq !== null && row.alarm_seq >= fromSeq;
  return {
    ...row,
    ...(alarmed ? NO_ALARM : {}),
    ...(ended ? { ...NO_RESULT, head: null } : {}),
    ...UNKNOWN_TRAIL,
    ...(row.kind === 'goal' ? await rewoundGoal(tx, row, fromSeq) : {}),
    epoch: row.epoch + 1,
    last_seq: fromSeq - 1,
  };
}

const READ = `select * from runs where tenant = @tenant and run_id = @runId`;

async function readRow(tx: Db, { tenant, runId }: RunKey): Promise<RunTable | undefined> {
  const [row] = await rowsOf<RunTable>(tx, READ, { tenant, runId });
  return row;
}

const PARENT = `select parent, root from children where tenant = @tenant and child = @runId`;

async function emptyRow(tx: Db, { tenant, runId }: RunKey, at: number): Promise<RunTable> {
  const [child] = await rowsOf<Pick<ChildTable, 'parent' | 'root'>>(tx, PARENT, { tenant, runId });
  return {
    tenant,
    run_id: runId,
    agent: '',
    task_id: '',
    goal_preview: '',
    model: '',
    caller: null,
    session_id: null,
    head: null,
    status: 'running',
    started_at: at,
    updated_at: at,
    last_seq: -1,
    epoch: 0,
    ...NO_RESULT,
    ...NO_ALARM,
    ...NO_GOAL,
    ...EMPTY_TRAIL,
    rules: null,
    parent: child?.parent ?? null,
    root: child?.root ?? null,
  };
}
