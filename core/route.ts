/**
 * Which model the next request goes to: the one frozen at the start, another that a person chose (D9), or the
 * fallback (G32).
 * Invariant: it changes only while no model call is in flight, so that a reply is priced by the route that was
 * asked, and before the context is looked at, so that the new window is what counts (G76).
 */
import type { ModelRoute } from './model.js';
import type { ModelChoice, OpenRun, Run } from './run.js';

export function currentRoute(run: OpenRun): ModelRoute {
  const { modelChoice: choice, frozen } = run;
  if (choice?.onFallback && frozen.fallback !== undefined) return frozen.fallback;
  return choice?.route ?? frozen.route;
}

export function withModelChoice<R extends Run>(run: R, change: ModelChoice): R {
  return { ...run, modelChoice: { ...run.modelChoice, ...change } };
}

/** There is a fallback that does not answer already. A last word is one call: not worth a second model (C42). */
export function hasFallback(run: OpenRun): boolean {
  const { fallback } = run.frozen;
  const unused = fallback !== undefined && fallback.name !== currentRoute(run).name;
  return unused && run.wrapUp === undefined;
}

export function onFallback(run: OpenRun): OpenRun {
  const tally = { ...run.tally, fallbacks: run.tally.fallbacks + 1 };
  return { ...withModelChoice(run, { onFallback: true }), tally };
}

/** A turn is over: a fallback that was for this turn only goes with it. */
export function afterTurn<R extends OpenRun>(run: R): R {
  const { settings } = run.frozen;
  return run.modelChoice?.onFallback && settings.fallbackSticky === 'turn'
    ? withModelChoice(run, { onFallback: false })
    : run;
}
