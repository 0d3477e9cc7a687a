/**
 * How the child of a goal ended: its result in the store, else what Temporal knows of it.
 * Invariants: the child's own word is looked for once more after Temporal says that it is closed; what nobody knows is
 * said to be unconfirmed, never guessed.
 */
import { NO_COUNTERS } from '../../core/goal/open.js';
import type { CloseCycleInput, CycleOutcome } from '../../core/state/goal/payloads.js';
import type { Counters } from '../../core/state/result.js';
import type { StoreCalls } from '../../store/store.js';
import type { Scope } from '../scope.js';

export interface ChildOutcome {
  /** Absent: it goes on. */
  readonly outcome?: Omit<CycleOutcome, 'doubt'>;
  readonly waiting?: true;
  /** ms since epoch, by the child's own result. */
  readonly at?: number;
}

const UNSERVED: readonly string[] = ['UnknownAgent', 'NotServed', 'ToolUnavailable'];

export async function childOutcome(
  store: StoreCalls,
  scope: Scope,
  { run, child, last }: Pick<CloseCycleInput, 'run' | 'child' | 'last'>,
): Promise<ChildOutcome> {
  const { tenant } = run;
  const told = await outcomeIn(store, tenant, child);
  if (told?.outcome !== undefined) return told;
  const known = await scope.describe?.(child);
  if (told === undefined && isStranger(known?.parent, run.runId)) {
    return { outcome: { ...failed('child_id_taken', 0), replied: false } };
  }
  if (known?.state === 'closed' || known?.state === 'not_found') {
    const late = await outcomeIn(store, tenant, child);
    if (late?.outcome !== undefined) return late;
    return { outcome: await lost(store, tenant, { child, failure: known.failure }) };
  }
  if (!last) return told?.waiting ? { waiting: true } : {};
  const { costMicroUsd, replies } = await store.attemptedCost(tenant, child);
  return { outcome: { ...failed('lost', costMicroUsd), replied: replies > 0, unconfirmed: true } };
}

/** Ids are taken across tenants: a run of somebody else may have had this one before the goal. */
function isStranger(parent: string | null | undefined, goal: string): boolean {
  return parent !== undefined && parent !== goal;
}

async function outcomeIn(
  store: StoreCalls,
  tenant: string,
  child: string,
): Promise<ChildOutcome | undefined> {
  const row = await store.getRun(tenant, child);
  if (row === undefined) return undefined;
  if (row.result === undefined) return row.status === 'running' ? {} : { waiting: true };
  const { status, stopReason, detail, costMicroUsd, counters } = row.result;
  const unserved = stopReason === 'tool_unavailable' || UNSERVED.includes(detail ?? '');
  return {
    outcome: {
      status,
      stopReason,
      ...(detail !== undefined && { detail }),
      costMicroUsd,
      counters,
      // A reply that brought no whole turn was heard all the same.
      replied: counters.modelCalls > 0,
      ...(unserved && { unserved: true }),
    },
    ...(row.completedAt !== undefined && { at: row.completedAt }),
  };
}

interface Lost {
  readonly child: string;
  /** Code of the failure with which it was refused. */
  readonly failure: string | undefined;
}

async function lost(store: StoreCalls, tenant: string, { child, failure }: Lost) {
  const { costMicroUsd, replies } = await store.attemptedCost(tenant, child);
  const unserved = failure !== undefined && UNSERVED.includes(failure);
  return {
    ...failed(failure ?? 'lost', costMicroUsd),
    replied: replies > 0,
    ...(unserved && { unserved: true as const }),
  };
}

function failed(detail: string, costMicroUsd: number) {
  const counters: Counters = { ...NO_COUNTERS, costMicroUsd };
  return { status: 'failed', stopReason: 'failed', detail, costMicroUsd, counters } as const;
}
