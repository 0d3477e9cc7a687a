/**
 * How often a tool with the same key has been started, and with what end. Only calls that may be started
 * again need rows; for all others the claim itself is the one start.
 */
import { retryFor } from '../core/tool.js';
import { now, type ActivityDeps } from './deps.js';
import type { Execution } from './execute-read.js';
import type { Scope } from './scope.js';

export type StartEnd = 'ok' | 'definite' | 'doubt' | 'lost';

export interface Starts {
  /** Number of this start, from 1. */
  readonly attempt: number;
  /** The tool recognises its key: it may be started again under it. */
  readonly sameKey: boolean;
  /** Another failure of the tool may still be retried. */
  readonly mayRetry: boolean;
  /** An earlier start may have taken effect. */
  readonly inDoubt: boolean;
  finish(end: StartEnd): Promise<void>;
}

const ONLY_START: Starts = {
  attempt: 1,
  sameKey: false,
  mayRetry: false,
  inDoubt: false,
  finish: () => Promise.resolve(),
};

interface ClaimedExecution extends Execution {
  /** Another execution held the claim before. */
  readonly renewed: boolean;
}

/** How often the code was started for this effect, when this delivery of it starts nothing. */
export async function startsBefore(
  { store }: ActivityDeps,
  scope: Scope,
  { input, runnable }: Execution,
): Promise<number> {
  if (retryFor(runnable.tool.record) !== 'same_key') return 0;
  const { tenant, runId } = input.run;
  return (await store.listAttempts(tenant, runId, scope.effectId)).length;
}

/** Notes this start and tells of the earlier ones. */
export async function noteStart(
  deps: ActivityDeps,
  scope: Scope,
  { input, runnable, renewed }: ClaimedExecution,
): Promise<Starts> {
  if (retryFor(runnable.tool.record) !== 'same_key') return ONLY_START;
  const { store } = deps;
  const { tenant, runId } = input.run;
  const site = { tenant, runId, effectId: scope.effectId };
  const earlier = await store.listAttempts(site.tenant, site.runId, site.effectId);
  const attempt = await store.startAttempt({
    ...site,
    kind: 'tool',
    boundCostMicroUsd: 0,
    boundInputTokens: 0,
    boundOutputTokens: 0,
    startedAt: now(deps),
  });
  // Before a reset starts had other names: a renewed claim without a start that is known is in doubt.
  const inDoubt =
    renewed && (earlier.length === 0 || earlier.some((row) => row.end?.code !== 'definite'));
  const failures = earlier.filter((row) => row.end?.outcome === 'failed').length;
  return {
    attempt,
    sameKey: true,
    mayRetry: failures < input.maxRetries,
    inDoubt,
    async finish(end) {
      const outcome = end === 'ok' ? 'ok' : end === 'lost' ? 'lost' : 'failed';
      // A doubt stays one: what this start says tells nothing of the earlier.
      const code = end === 'definite' && inDoubt ? 'doubt' : end;
      const ending = { outcome, code, estimated: false, finishedAt: now(deps) } as const;
      await store.finishAttempt({ ...site, attempt, ...ending });
    },
  };
}
