/** Runs the code of a tool or hook as the work of its activity, under its limits. */
import type { ActivityDeps } from './deps.js';
import { runCode, type CodeLimits, type CodeOutcome } from './run-code.js';
import type { Scope } from './scope.js';
import { timersOf } from './timers.js';

interface OutsideCode extends Pick<CodeLimits, 'timeoutMs' | 'graceMs'> {
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  /** Errors that mean what they say even after a stop; without it, none. */
  readonly isDefinite?: CodeLimits['isDefinite'];
}

export function runOutside(
  deps: ActivityDeps,
  { work, signal }: Pick<Scope, 'work' | 'signal'>,
  { run, isDefinite = () => false, ...limits }: OutsideCode,
): Promise<CodeOutcome> {
  const timers = timersOf(deps);
  return work.outside(() => runCode(run, { ...limits, timers, stop: signal, isDefinite }));
}
