/**
 * An earlier sub-agent of a run that was reset and gives its number to another task: it is told to stop, and billed.
 * Invariant: one that has not ended in time costs all that was reserved for it, because it may still spend that.
 */
import type { PrepareChildInput } from '../../core/state/effect.js';
import type { HandedStart } from '../../pure/handed-start.js';
import type { SubAgentStart } from '../../pure/sub-agent-start.js';
import type { StoreCalls } from '../../store/store.js';
import type { ActivityDeps } from '../deps.js';
import type { Scope } from '../scope.js';
import { pause, timersOf } from '../timers.js';

/** How long an earlier sub-agent may take to end. */
const ENDING_MS = 12_000;
const LOOK_MS = 200;

type Ids = Pick<PrepareChildInput, 'run' | 'child'>;

/** Resolves when it has its result, or has had its time. A run of somebody else under its id is told nothing. */
export async function stopPassed(deps: ActivityDeps, scope: Scope, { run, child }: Ids) {
  const { describe, stop, signal } = scope;
  const hasResult = async (): Promise<boolean> =>
    (await deps.store.getRun(run.tenant, child))?.result !== undefined;
  if (stop === undefined || (await hasResult())) return;
  const known = await describe?.(child);
  if (known?.state !== 'running' || known.parent !== run.runId) return;
  await stop(child, `passed over by ${run.runId}, which was reset`);
  for (let waited = 0; waited < ENDING_MS && !(await hasResult()); waited += LOOK_MS) {
    if (!(await pause(timersOf(deps), LOOK_MS, signal))) return;
  }
}

/** What it costs the run, in micro-USD. */
export async function costOfPassed(store: StoreCalls, { run, child }: Ids): Promise<number> {
  const result = (await store.getRun(run.tenant, child))?.result;
  if (result !== undefined) return result.costMicroUsd;
  const row = await store.childRow(run.tenant, child);
  const { costMicroUsd } = await store.attemptedCost(run.tenant, child);
  const known =
    row === undefined ? undefined : (JSON.parse(row.start) as SubAgentStart | HandedStart);
  const reserved = known?.start.budget?.maxCostMicroUsd;
  return typeof reserved === 'number' ? Math.max(reserved, costMicroUsd) : costMicroUsd;
}
