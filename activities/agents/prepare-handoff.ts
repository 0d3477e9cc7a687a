/**
 * prepare_handoff: the row by which the run will be known that takes a task over, and what that run is started with.
 * Invariants: the same call gives the same row; the row is there before the run is started; a number that somebody else has is
 * given up, and an earlier run of this one that has it is told to stop and billed.
 */
import type { PrepareHandoffInput, PrepareHandoffOutput } from '../../core/state/effect.js';
import type { Task } from '../../core/state/task.js';
import { childText } from '../../pure/goal/child-start.js';
import type { HandedStart } from '../../pure/handed-start.js';
import type { StoreCalls } from '../../store/store.js';
import type { ActivityDeps } from '../deps.js';
import { chainAt } from '../model/model-request.js';
import { appendEvents } from '../run/append-events.js';
import { beginning } from '../run/append-items.js';
import { handedWords, wholeGoal, wholeSchema } from '../run/handed-task.js';
import type { Scope } from '../scope.js';
import { costOfPassed, stopPassed } from './passed-child.js';

const GOAL_CHARS_SHOWN = 200;

export async function prepareHandoff(
  deps: ActivityDeps,
  scope: Scope,
  input: PrepareHandoffInput,
): Promise<PrepareHandoffOutput> {
  const { store } = deps;
  const eventsUpTo = await appendEvents(store, scope, input);
  const { run, child, n } = input;
  const { tenant, runId: parent } = run;
  if (input.existed === true && !(await isOurs(scope, input)))
    return { taken: { costMicroUsd: 0 }, eventsUpTo };
  const handed = await startOf(store, input);
  const { text, digest } = childText(handed);
  const { namespace } = scope;
  const row = { tenant, child, parent, n, digest, start: text, namespace, detached: true } as const;
  if ((await store.registerChild(row)) !== 'taken') {
    const start = { ...handed.start, parent: { kind: 'handoff', id: parent, n, digest } } as const;
    return { start, ...(input.existed && { begun: true }), eventsUpTo };
  }
  const known = await store.childRow(tenant, child);
  if (known?.parent !== parent) return { taken: { costMicroUsd: 0 }, eventsUpTo };
  // The run was reset, and had handed its task over before: the same handoff is the run that is there.
  const earlier = JSON.parse(known.start) as HandedStart;
  if (isSame(earlier, handed) && (await isOurs(scope, input))) {
    const parentOf = { kind: 'handoff', id: parent, n, digest: known.digest } as const;
    return { start: { ...earlier.start, parent: parentOf }, begun: true, eventsUpTo };
  }
  await store.sealChild(tenant, child);
  await stopPassed(deps, scope, input);
  return { taken: { costMicroUsd: await costOfPassed(store, input) }, eventsUpTo };
}

/** As the model asked for it; what is left of the budgets may have been told otherwise since. */
function isSame(one: HandedStart, other: HandedStart): boolean {
  return (
    one.start.agent === other.start.agent &&
    one.task.goal === other.task.goal &&
    JSON.stringify(one.words) === JSON.stringify(other.words) &&
    one.handedFrom.callId === other.handedFrom.callId
  );
}

/** Ids are taken across tenants: a run of somebody else may have had this one before. */
async function isOurs(scope: Scope, { run, child }: PrepareHandoffInput): Promise<boolean> {
  const known = await scope.describe?.(child);
  if (known === undefined || known.state === 'not_found') return false;
  return known.parent === undefined || known.parent === run.runId;
}

async function startOf(store: StoreCalls, input: PrepareHandoffInput): Promise<HandedStart> {
  const { run, handoff, handoffs, start, head, outputSchema } = input;
  const { tenant } = run;
  const { nodes } = await chainAt(store, tenant, head);
  const goal = (await wholeGoal(store, run, nodes)) ?? start.task.goal;
  const schema = await wholeSchema(store, run, outputSchema);
  const { goal: _, ...rest } = start.task;
  const task: Task = { ...rest, goal, ...(schema !== undefined && { outputSchema: schema }) };
  const { traceId = run.traceId } = rest;
  return {
    v: 1,
    task: { ...task, traceId },
    start: {
      v: 1,
      agent: handoff.to,
      tenant,
      task: { ...rest, goal: beginning(goal, GOAL_CHARS_SHOWN), traceId },
      ...(start.budget !== undefined && { budget: start.budget }),
      ...(start.settings !== undefined && { settings: start.settings }),
      ...(run.store !== undefined && { store: run.store.id }),
    },
    handedFrom: { runId: run.runId, agent: handoff.from, callId: handoff.callId, handoffs },
    words: await handedWords(store, tenant, handoff),
  };
}
