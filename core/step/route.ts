/**
 * Which model the next request goes to: the one frozen at the start, another that a person chose (D9), or the
 * fallback (G32).
 * Invariant: it changes only while no model call is in flight, so that a reply is priced by the route that was
 * asked, and before the context is looked at, so that the new window is what counts (G76).
 */
import type { Frozen } from '../state/frozen.js';
import type { ModelRoute } from '../state/model.js';
import type { Settings } from '../state/settings.js';
import { isOpen, type ModelChoice, type OpenRun, type Run } from '../state/run.js';

/** Different routes that a run remembers having asked. */
const ROUTES_MAX = 16;

export function currentRoute(run: OpenRun): ModelRoute {
  const { modelChoice: choice, frozen } = run;
  if (choice?.onFallback && frozen.fallback !== undefined) return frozen.fallback;
  return choice?.route ?? frozen.route;
}

/** What every request asks of the vendor beside the model. Runs of before this setting have none. */
export function betasOf({ frozen }: OpenRun): { readonly betas?: readonly string[] } {
  const { betas }: Partial<Pick<Settings, 'betas'>> = frozen.settings;
  return betas === undefined || betas.length === 0 ? {} : { betas };
}

/**
 * Notes that the current route is asked: a trace names every one of them (G60). Runs that were opened before
 * routes had a version of their own know nothing of it.
 */
export function noteRoute(run: OpenRun): OpenRun {
  if (run.frozen.versions['modelRoute'] === undefined) return run;
  const { name, pricesVersion: pricing } = currentRoute(run);
  const { routes = [] } = run;
  const known = routes.some((one) => one.name === name && one.pricing === pricing);
  return known || routes.length >= ROUTES_MAX
    ? run
    : { ...run, routes: [...routes, { name, pricing }] };
}

/** The versions that were frozen, with every model and price list that the run came to use, in order. */
export function versionsOf(run: Run): Frozen['versions'] {
  if (!isOpen(run)) return {};
  const { frozen, routes = [] } = run;
  const { versions, route } = frozen;
  const { modelRoute, pricing = route.pricesVersion } = versions;
  if (modelRoute === undefined || routes.length === 0) return versions;
  // People may have given the frozen ones names of their own.
  const named = (one: { readonly name: string }): boolean => one.name === route.name;
  return {
    ...versions,
    modelRoute: listed(routes.map((one) => (named(one) ? modelRoute : one.name))),
    pricing: listed(routes.map((one) => (named(one) ? pricing : one.pricing))),
  };
}

function listed(names: readonly string[]): string {
  return [...new Set(names)].join(', ');
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
