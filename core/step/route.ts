/**
 * What serves a run: the model of its next request, the one frozen at the start, another that a person chose or the
 * fallback (G32); and the code of its tools on workers (G118).
 * Invariants: the model changes only while no model call is in flight, so that a reply is priced by the route that was
 * asked, and before the context is looked at, so that the new window counts (G76). A tool's code is that of the schema
 * which the run began with, or adopted since because no worker served the first one any more (G110); a person who had
 * approved is asked again.
 */
import { digestOf, ownValue, type Json } from '../json/json.js';
import type { ActivityEffect, EffectLimits } from '../state/effect.js';
import type { Frozen } from '../state/frozen.js';
import type { ModelRoute } from '../state/model.js';
import type { NeedsCode, NeedsTool } from '../state/payloads/payload.js';
import { isOpen, type AskedRoute, type ModelChoice, type OpenRun, type Run } from '../state/run.js';
import { DEFAULT_SETTINGS, type Settings } from '../state/settings.js';
import { toolKey, type ToolRecord } from '../state/tool.js';
import { follows } from './changes.js';
import { warn } from './outbox.js';

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
  const route = currentRoute(run);
  const { name, pricesVersion: pricing } = route;
  const { routes = [] } = run;
  const hash = follows(run, 'routeHashes') ? routeHash(route) : undefined;
  const known = routes.some(
    (one) => one.name === name && one.pricing === pricing && one.hash === hash,
  );
  const asked = { name, pricing, ...(hash !== undefined && { hash }) };
  return known || routes.length >= ROUTES_MAX ? run : { ...run, routes: [...routes, asked] };
}

/** A run asks by the same route turn after turn. */
const hashes = new WeakMap<ModelRoute, string>();

/** Names a route with all that it says of its model. */
export function routeHash(route: ModelRoute): string {
  const hash = hashes.get(route) ?? digestOf(route as unknown as Json);
  hashes.set(route, hash);
  return hash;
}

/** The versions that were frozen, with every model and price list that the run came to use, in order. */
export function versionsOf(run: Run): Frozen['versions'] {
  if (!isOpen(run)) return {};
  const { frozen, routes = [] } = run;
  const { versions, route } = frozen;
  const { modelRoute, pricing = route.pricesVersion } = versions;
  if (modelRoute === undefined || routes.length === 0) return versions;
  // People may have given the frozen ones names of their own.
  const own = routeHash(route);
  const named = ({ name, hash = own }: AskedRoute): boolean => name === route.name && hash === own;
  return {
    ...versions,
    modelRoute: listed(routes.map((one) => (named(one) ? modelRoute : (one.hash ?? one.name)))),
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

/** Of an effect that needs code: none under older rules, whose effects fail where the code lacks. */
export function unservedLimit(run: OpenRun): NeedsCode {
  if (!follows(run, 'waitForCode')) return {};
  // A run that an older release opened has frozen none.
  const { unservedTimeoutMs } = { ...DEFAULT_SETTINGS, ...run.frozen.settings };
  return { unservedMs: unservedTimeoutMs };
}

/** Of an effect that needs the code of a tool. */
export function codeOf(run: OpenRun, name: string): NeedsTool {
  const schemaHash = schemaOf(run, name);
  if (schemaHash === undefined || !follows(run, 'waitForCode')) return {};
  return { schemaHash, ...unservedLimit(run) };
}

/** Whose workers run the code of a tool; nothing: those of the run's own queue. */
export function queueOf(
  run: OpenRun,
  name: string,
  { sandbox }: { readonly sandbox?: true } = {},
): { readonly queue?: string } {
  if (!follows(run, 'toolQueues')) return {};
  const tool = frozenTool(run, name);
  const own = (sandbox ? tool?.sandboxQueue : undefined) ?? tool?.queue;
  const queue = own ?? (sandbox ? sandboxQueueOf(run) : undefined);
  return queue === undefined ? {} : { queue };
}

/** Of calls in a sandbox whose tools name no queue (G18). */
function sandboxQueueOf(run: OpenRun): string | undefined {
  return follows(run, 'sandboxQueues') ? run.frozen.sandboxQueue : undefined;
}

/** The same for an effect, with how long it may lie there before a worker takes it (G118). */
export function onQueueOf(
  run: OpenRun,
  limits: EffectLimits,
  { tool, grant }: { readonly tool: string; readonly grant?: Parameters<typeof queueOf>[2] },
): Pick<ActivityEffect, 'limits' | 'queue'> {
  const place = queueOf(run, tool, grant);
  if (place.queue === undefined || !follows(run, 'queuesLimited')) return { limits, ...place };
  const { unservedMs } = unservedLimit(run);
  return {
    limits: { ...limits, ...(unservedMs !== undefined && { queuedMs: unservedMs }) },
    ...place,
  };
}

/** Workers serve another schema under the same version: from now on it is the run's. */
export function adoptSchema(run: OpenRun, name: string, schemaHash: string): OpenRun {
  const tool = frozenTool(run, name);
  const before = schemaOf(run, name);
  if (tool === undefined || before === schemaHash) return run;
  const words = `workers serve ${toolKey(tool)} with schema ${schemaHash}; the run had ${before}`;
  const adopted = { ...run, schemas: { ...run.schemas, [name]: schemaHash } };
  return warn(adopted, 'tool_schema_changed', words);
}

function schemaOf(run: OpenRun, name: string): string | undefined {
  return ownValue(run.schemas ?? {}, name) ?? frozenTool(run, name)?.schemaHash;
}

function frozenTool(run: OpenRun, name: string): ToolRecord | undefined {
  return run.frozen.tools.find((tool) => tool.name === name);
}
