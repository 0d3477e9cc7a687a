/**
 * How often a tool with the same key has been started, and with what end. Only calls that may be started
 * again need rows; for all others the claim itself is the one start.
 */
import { retryFor } from '../../core/state/tool.js';
import type { AttemptRow } from '../../store/attempts.js';
import { now, type InTransaction } from '../deps.js';
import type { Execution } from './execute-read.js';
import type { Scope } from '../scope.js';

export type StartEnd = 'ok' | 'definite' | 'doubt' | 'lost';

/** One start of a tool that changes something. */
export interface Start {
  /** Number of this start, from 1. */
  readonly attempt: number;
  /** The tool recognises its key: it may be started again under it. */
  readonly sameKey: boolean;
  /** Another failure of the tool may still be retried. */
  readonly mayRetry: boolean;
  /** An earlier start may have taken effect. */
  readonly inDoubt: boolean;
}

const ONLY_START: Start = { attempt: 1, sameKey: false, mayRetry: false, inDoubt: false };

interface ClaimedExecution extends Execution {
  /** Another execution held the claim before. */
  readonly renewed: boolean;
}

/** How often the code was started for this effect, when this delivery of it starts nothing. */
export async function startsBefore(
  { store }: InTransaction,
  scope: Scope,
  { input, runnable }: Execution,
): Promise<number> {
  if (retryFor(runnable.tool.record) !== 'same_key') return 0;
  const { tenant, runId, effectId } = siteOf(scope, input);
  return (await store.listAttempts(tenant, runId, effectId)).length;
}

/** Notes this start and tells of the earlier ones. */
export async function noteStart(
  deps: InTransaction,
  scope: Scope,
  { input, runnable, renewed }: ClaimedExecution,
): Promise<Start> {
  if (retryFor(runnable.tool.record) !== 'same_key') return ONLY_START;
  const { store } = deps;
  const site = siteOf(scope, input);
  const earlier = await store.listAttempts(site.tenant, site.runId, site.effectId);
  const attempt = await store.startAttempt({
    ...site,
    kind: 'tool',
    boundCostMicroUsd: input.cost?.each ?? 0,
    boundInputTokens: 0,
    boundOutputTokens: 0,
    startedAt: now(deps),
  });
  const inDoubt = renewed && mayHaveHappened(earlier);
  const failures = earlier.filter((row) => row.end?.outcome === 'failed').length;
  return { attempt, sameKey: true, mayRetry: failures < input.maxRetries, inDoubt };
}

/** An earlier start under the same key may have taken effect. */
export async function earlierInDoubt(
  { store }: InTransaction,
  scope: Pick<Scope, 'effectId'>,
  { input }: Pick<Execution, 'input'>,
): Promise<boolean> {
  const { tenant, runId, effectId } = siteOf(scope, input);
  return mayHaveHappened(await store.listAttempts(tenant, runId, effectId));
}

/** Before a reset starts had other names: a renewed claim without a start that is known is in doubt. */
function mayHaveHappened(earlier: readonly AttemptRow[]): boolean {
  return earlier.length === 0 || earlier.some((row) => row.end?.code !== 'definite');
}

/** Notes with what a start has ended. */
export async function noteEnd(
  deps: InTransaction,
  scope: Scope,
  {
    input,
    meter,
    start,
    end,
  }: Pick<Execution, 'input' | 'meter'> & { readonly start: Start; readonly end: StartEnd },
): Promise<void> {
  if (!start.sameKey) return;
  const outcome = end === 'ok' ? 'ok' : end === 'lost' ? 'lost' : 'failed';
  // A doubt stays one: what this start says tells nothing of the earlier.
  const code = end === 'definite' && start.inDoubt ? 'doubt' : end;
  const costMicroUsd = meter.charge(end === 'ok' || end === 'definite');
  const ending = { outcome, code, costMicroUsd, estimated: false, finishedAt: now(deps) } as const;
  await deps.store.finishAttempt({ ...siteOf(scope, input), attempt: start.attempt, ...ending });
}

function siteOf(scope: Pick<Scope, 'effectId'>, { run: { tenant, runId } }: Execution['input']) {
  return { tenant, runId, effectId: scope.effectId };
}
