/** Runs the code of a tool or hook as the work of its activity, under its limits. */
import type { ActivityDeps } from './deps.js';
import { runCode, type CodeLimits, type CodeOutcome } from './tool/run-code.js';
import type { Limited } from '../core/state/effect.js';
import { leftFor } from './progress.js';
import type { Scope } from './scope.js';
import { timersOf } from './timers.js';

interface OutsideCode extends Pick<CodeLimits, 'graceMs'>, Limited {
  /** Its own limit; what is left of the work and of this delivery may be less. */
  readonly timeoutMs: number;
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  /** Errors that mean what they say even after a stop; without it, none. */
  readonly isDefinite?: CodeLimits['isDefinite'];
}

export function runOutside(
  deps: Pick<ActivityDeps, 'timers'>,
  { work, signal }: Pick<Scope, 'work' | 'signal'>,
  { run, isDefinite = () => false, timeoutMs: ownMs, graceMs, workMs }: OutsideCode,
): Promise<CodeOutcome> {
  const timeoutMs = leftFor({ ownMs, workMs }, work);
  const limits = { timeoutMs, graceMs, timers: timersOf(deps), stop: signal, isDefinite };
  return work.outside(() => runCode(run, limits));
}
