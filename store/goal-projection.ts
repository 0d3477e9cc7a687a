/** The columns of `runs` that only goals have, projected from their events (`projection`). */
import type { EventType, RunEvent } from '../core/state/event.js';
import { previewOf } from '../core/json/json.js';
import { isRecord } from '../core/json/shape.js';
import { beginningOf } from './blobs.js';
import { wellFormed } from './bounds.js';
import { rowsOf, type Db } from './database.js';
import type { RunTable } from './schema.js';

/** Events that say more of their goal than that it went on. */
export const GOAL_TELLS = [
  'goal_started',
  'goal_sleeping',
  'goal_woken',
  'cycle_ended',
  'goal_review',
  'goal_steered',
  'handoff',
  'goal_result',
] as const satisfies readonly EventType[];

export const NO_GOAL = {
  kind: 'run',
  next_wake: null,
  spent_micro_usd: null,
  budget_micro_usd: null,
} as const;

/** What an event says about its goal. */
export function foldGoal(row: RunTable, event: RunEvent): RunTable {
  switch (event.type) {
    case 'goal_started':
      return {
        ...row,
        kind: 'goal',
        agent: event.agent,
        task_id: event.stamp.runId,
        goal_preview: wellFormed(beginningOf(previewOf(event.objective))),
        caller: event.caller ?? null,
        started_at: event.stamp.at,
        spent_micro_usd: 0,
        budget_micro_usd: event.maxCostMicroUsd,
      };
    case 'goal_sleeping':
      return { ...row, next_wake: event.until ?? null };
    case 'goal_woken':
      return { ...row, next_wake: null };
    case 'cycle_ended':
    case 'goal_review':
      return { ...row, spent_micro_usd: (row.spent_micro_usd ?? 0) + (event.costMicroUsd ?? 0) };
    case 'goal_steered':
      return {
        ...row,
        budget_micro_usd: raisedTo(event) ?? row.budget_micro_usd,
        ...(event.control === 'pause' && { detail: pausedText(event) }),
        ...(event.control === 'resume' && { detail: null }),
      };
    // A run goes on under the name that it was started with.
    case 'handoff':
      return row.kind === 'goal' ? { ...row, agent: event.to } : row;
    default:
      return row;
  }
}

/** A paused goal wakes by nothing but its resume. */
function pausedText({ by, stamp: { at } }: RunEvent & { readonly by: string }): string {
  return wellFormed(`${PAUSED}${new Date(at).toISOString()}, by ${by}`);
}

/** How the detail of a goal that is open begins while a person holds it. */
export const PAUSED = 'paused since ';

function raisedTo({ control, value }: Extract<RunEvent, { type: 'goal_steered' }>) {
  if (control !== 'setBudget' || !isRecord(value)) return undefined;
  const { maxCostMicroUsd } = value;
  return typeof maxCostMicroUsd === 'number' ? maxCostMicroUsd : undefined;
}

const SAID = `
  select body from events
  where tenant = @tenant and run_id = @runId and superseded = 0 and seq < @fromSeq and (
    ${GOAL_TELLS.map((type) => `body like '%"type":"${type}"%'`).join(' or ')})
  order by seq`;

type GoalSum = 'agent' | 'detail' | 'next_wake' | 'spent_micro_usd' | 'budget_micro_usd';

/** The columns as the events before `fromSeq` have them: sums cannot be taken back one by one. */
export async function rewoundGoal(
  tx: Db,
  row: RunTable,
  fromSeq: number,
): Promise<Pick<RunTable, GoalSum>> {
  const { tenant, run_id: runId } = row;
  const said = await rowsOf<{ readonly body: string }>(tx, SAID, { tenant, runId, fromSeq });
  const start: RunTable = { ...row, ...NO_GOAL, kind: row.kind, detail: null };
  // Our own form of an event that was typed when it came in.
  const { agent, detail, next_wake, spent_micro_usd, budget_micro_usd } = said
    .map(({ body }) => JSON.parse(body) as RunEvent)
    .reduce(foldGoal, start);
  const isOver = row.result_seq !== null && row.result_seq < fromSeq;
  return {
    agent,
    detail: isOver ? row.detail : detail,
    next_wake,
    spent_micro_usd,
    budget_micro_usd,
  };
}
