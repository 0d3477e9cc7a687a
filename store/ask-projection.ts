/**
 * The table of asks, projected from events (`projection`).
 * Invariants: a closed ask never changes, but for a reset that undoes what closed it; each change carries
 * the seq that made it.
 */
import type { AskOutcome } from '../core/state/ask-kinds.js';
import { AWAITING } from '../core/loop/awaiting.js';
import type { RunEvent } from '../core/state/event.js';
import type { AskView } from '../core/state/ask-view.js';
import { decidersOf } from '../pure/deciders-of.js';
import { searchableText } from './ask-search.js';
import { change, rowsOf, type Db } from './database.js';
import type { LiveStatus } from './run-status.js';

export interface RunKey {
  readonly tenant: string;
  readonly runId: string;
}

/** True when the event changed asks. */
export async function projectAsk(tx: Db, run: RunKey, event: RunEvent): Promise<boolean> {
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
        by: decidersOf(event),
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
        by: decidersOf(event),
      });
      return true;
    case 'run_result':
      // Nobody can answer for a run that has ended.
      await closeAsks(tx, run, { event, outcome: 'withdrawn', reason: 'The run has ended.' });
      return true;
    case 'goal_result':
      await closeAsks(tx, run, { event, outcome: 'withdrawn', reason: 'The goal has ended.' });
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
    search_text: searchableText(runId, view),
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
const CLOSE_ALL = `
  update asks set outcome = @outcome, by_json = @by, reason = @reason, resolved_at = @at,
    closed_seq = @seq
  where tenant = @tenant and run_id = @runId and outcome = 'pending'`;
const CLOSE = `${CLOSE_ALL} and ask_id = @askId`;

async function closeAsks(tx: Db, { tenant, runId }: RunKey, closing: Closing): Promise<void> {
  const { event, askId, outcome } = closing;
  const values = {
    tenant,
    runId,
    outcome,
    by: JSON.stringify(closing.by ?? []),
    reason: closing.reason ?? null,
    at: event.stamp.at,
    seq: event.stamp.seq,
  };
  await (askId === undefined
    ? change(tx, CLOSE_ALL, values)
    : change(tx, CLOSE, { ...values, askId }));
}

/** Undoes what events from `fromSeq` on did to the asks. */
export async function rewindAsks(
  tx: Db,
  { tenant, runId }: RunKey,
  fromSeq: number,
): Promise<void> {
  await tx
    .deleteFrom('asks')
    .where('tenant', '=', tenant)
    .where('run_id', '=', runId)
    .where('opened_seq', '>=', fromSeq)
    .execute();
  await tx
    .updateTable('asks')
    .set({ outcome: 'pending', by_json: '[]', reason: null, resolved_at: null, closed_seq: null })
    .where('tenant', '=', tenant)
    .where('run_id', '=', runId)
    .where('closed_seq', '>=', fromSeq)
    .execute();
}

const PENDING_KINDS = `
  select distinct kind from asks
  where tenant = @tenant and run_id = @runId and outcome = 'pending'`;

/** The status that follows from the asks of a run under way. */
export async function liveStatus(tx: Db, { tenant, runId }: RunKey): Promise<LiveStatus> {
  const pending = await rowsOf<{ readonly kind: string }>(tx, PENDING_KINDS, { tenant, runId });
  const kinds = new Set(pending.map((ask) => ask.kind));
  return AWAITING.find(([kind]) => kinds.has(kind))?.[1] ?? 'running';
}
