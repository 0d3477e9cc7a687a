/**
 * Routes by name: a vendor or gateway, and a model of it, with what a run has to know of it (G24, G76).
 * Invariant: a run starts only on a model whose window and prices are known, from the table or because the
 * user said what to reckon with.
 */
import { HoldfastError } from '../core/state/errors.js';
import type { ModelRoute, Prices, UnknownModels } from '../core/state/model.js';
import type { Budget } from '../core/state/budget-fields.js';
import { nearestNames } from '../pure/nearest-names.js';
import { SMALL, VENDOR_TABLES, type ModelRow } from './model-table.js';

const USD = 1_000_000;
const SCRIPTED_PREFIX = 'scripted/';
/** Of a configuration with a script. */
export const SCRIPTED_PROVIDER = 'scripted';
/** A gateway takes the names of other vendors' routes. */
const GATEWAY_PREFIX = 'litellm/';
const NAME_CHARS_MAX = 200;
const UNKNOWN_CONTEXT_WINDOW = 200_000;
const UNKNOWN_OUTPUT_TOKENS = 16_384;
const FREE: Prices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

const KNOWN: ReadonlyMap<string, ModelRoute> = new Map(
  VENDOR_TABLES.flatMap(({ providers, pricesVersion, takes, rows }) =>
    providers.flatMap((provider) =>
      rows.map((row): [string, ModelRoute] => [
        `${provider}/${row.model}`,
        routeOf(row, { provider, pricesVersion, takes }),
      ]),
    ),
  ),
);

/** What a configuration says about models. */
export interface DeclaredModels {
  /** They win over known ones. */
  readonly routes?: readonly ModelRoute[];
  readonly unknownModels?: UnknownModels;
  /** By name, models that the configuration brings along. */
  readonly models?: ReadonlyMap<string, NamedModel>;
  /** There is a script: `scripted/…` is its, and no vendor's. */
  readonly scripted?: unknown;
}

export interface NamedModel {
  readonly route: ModelRoute;
  /** What the configuration does not say of it, in words; absent: its window and prices are known. */
  readonly unsaid?: string;
}

/** Names of the built-in routes, in the order of the table. */
export function knownRoutes(): readonly string[] {
  return [...KNOWN.keys()];
}

/**
 * The route of a model by its `provider/model` name. `litellm/<known name>` is that model behind a gateway;
 * `scripted/<anything>` speaks the Anthropic protocol and is for tests, demos and benches.
 */
export function resolveRoute(name: string, models: DeclaredModels = {}): ModelRoute {
  const named = models.models?.get(name);
  if (named?.unsaid !== undefined) throw unpriced(name, named.unsaid);
  return routeNamed(name, models);
}

/**
 * The same where money may be unlimited: then a model that the configuration brings along needs no prices.
 * Errors: UnknownModel, where money is limited and they are not there.
 */
export function resolveRouteFor(
  name: string,
  models: DeclaredModels,
  { maxCostMicroUsd }: Pick<Budget, 'maxCostMicroUsd'>,
): ModelRoute {
  return maxCostMicroUsd === 'unlimited' ? routeNamed(name, models) : resolveRoute(name, models);
}

/** For whoever asks what a model is, and pays nothing. */
export const ANY_MONEY = { maxCostMicroUsd: 'unlimited' } as const;

function unpriced(name: string, unsaid: string): HoldfastError {
  return new HoldfastError(
    'UnknownModel',
    `The configuration does not say the ${unsaid} of model ${name}, so no budget of money could hold it.`,
    {
      hint:
        `Say it in \`models\`: ${name}: { model, contextWindow, maxOutputTokens, prices: { input, output, cacheRead, cacheWrite } } ` +
        "in micro-USD per million tokens; or set the budget maxCostMicroUsd: 'unlimited'.",
      details: { model: name },
    },
  );
}

function routeNamed(name: string, models: DeclaredModels): ModelRoute {
  const { routes = [] } = models;
  const declared = routes.find((route) => route.name === name);
  const route =
    declared ??
    models.models?.get(name)?.route ??
    KNOWN.get(name) ??
    gatewayRoute(name) ??
    scriptedRoute(name, models) ??
    unknownRoute(name, models.unknownModels);
  if (route !== undefined) return route;
  const known = [
    ...routes.map((each) => each.name),
    ...(models.models?.keys() ?? []),
    ...KNOWN.keys(),
    'litellm/<known name>',
    'scripted/<name>',
  ];
  throw new HoldfastError(
    'UnknownModel',
    `Model ${JSON.stringify(name.slice(0, NAME_CHARS_MAX))} is not known.`,
    {
      hint:
        meantModel(name, known) +
        'Use a known name (docs/guide/providers.md in the package holdfast lists them), or declare a route: { name: "provider/model", provider, model, contextWindow, ' +
        'maxOutputTokens, prices: { input, output, cacheRead, cacheWrite } in micro-USD per million tokens, ' +
        'pricesVersion, temperatureAllowed, thinkingAdaptive?, takes? }; or say in unknownModels what to reckon with.',
      details: { known },
    },
  );
}

/** Models are compared within their vendor: most of a name may be the vendor's. Without one, with those of all. */
function meantModel(name: string, known: readonly string[]): string {
  const { vendor, model } = partsOf(name);
  const scripted = vendor === '' ? [] : [`${SCRIPTED_PREFIX}${model}`];
  const all = [...known, ...scripted].map(partsOf);
  const vendors = [...new Set(all.map((each) => each.vendor))];
  const [right] = vendors.includes(vendor) ? [vendor] : nearestNames(vendor, vendors);
  const those = vendor === '' ? all : all.filter((each) => each.vendor === right);
  const nearest = nearestNames(model, [...new Set(those.map((each) => each.model))]);
  const meant = nearest.flatMap((near) => those.filter((each) => each.model === near));
  const names = meant.map((each) => (each.vendor === '' ? '' : `${each.vendor}/`) + each.model);
  if (names.length > 0) return `Did you mean ${names.slice(0, 3).join(' or ')}? `;
  return right === undefined || right === vendor ? '' : `Did you mean one of ${right}? `;
}

function partsOf(name: string): { readonly vendor: string; readonly model: string } {
  const slash = name.indexOf('/');
  return { vendor: name.slice(0, Math.max(0, slash)), model: name.slice(slash + 1) };
}

function gatewayRoute(name: string): ModelRoute | undefined {
  if (!name.startsWith(GATEWAY_PREFIX)) return undefined;
  const model = name.slice(GATEWAY_PREFIX.length);
  const behind = KNOWN.get(model);
  return behind === undefined ? undefined : { ...behind, name, provider: 'litellm', model };
}

function scriptedRoute(
  name: string,
  { scripted }: Pick<DeclaredModels, 'scripted'>,
): ModelRoute | undefined {
  const model = name.slice(SCRIPTED_PREFIX.length);
  if (!name.startsWith(SCRIPTED_PREFIX) || model === '' || name.length > NAME_CHARS_MAX) {
    return undefined;
  }
  const row: ModelRow = { model, usd: [3, 15, 0.3, 3.75], ...SMALL };
  const provider = scripted === undefined ? 'anthropic' : SCRIPTED_PROVIDER;
  return { ...routeOf(row, { provider, pricesVersion: 'scripted' }), name };
}

function unknownRoute(name: string, unknown: UnknownModels | undefined): ModelRoute | undefined {
  const { vendor: provider, model } = partsOf(name);
  if (unknown === undefined || unknown.prices === 'fail' || name.length > NAME_CHARS_MAX) {
    return undefined;
  }
  if (provider === '' || model === '') return undefined;
  return {
    name,
    provider,
    model,
    contextWindow: unknown.contextWindow ?? UNKNOWN_CONTEXT_WINDOW,
    maxOutputTokens: unknown.maxOutputTokens ?? UNKNOWN_OUTPUT_TOKENS,
    prices: unknown.prices === 'zero' ? FREE : unknown.prices,
    pricesVersion: 'unknown',
    // What a model may refuse is not sent; its own default stands.
    temperatureAllowed: false,
    thinkingAllowed: false,
  };
}

function routeOf(
  row: ModelRow,
  { provider, pricesVersion, takes }: Pick<ModelRoute, 'provider' | 'pricesVersion' | 'takes'>,
): ModelRoute {
  const taken = row.takes ?? takes;
  const { model, usd, contextWindow, maxOutputTokens, temperatureAllowed, thinking } = row;
  return {
    name: `${provider}/${model}`,
    provider,
    model,
    contextWindow,
    maxOutputTokens,
    prices: pricesOf(usd),
    pricesVersion,
    temperatureAllowed,
    ...(thinking === 'never' && { thinkingAllowed: false }),
    // Without an effort, models that take no temperature take no thinking budget either.
    ...(thinking === undefined && !temperatureAllowed && { thinkingAdaptive: true }),
    ...(taken !== undefined && { takes: taken }),
  };
}

function pricesOf(usd: ModelRow['usd']): Prices {
  const [input, output, cacheRead, cacheWrite] = usd.map((price) => Math.round(price * USD)) as [
    number,
    number,
    number,
    number,
  ];
  return { input, output, cacheRead, cacheWrite };
}
