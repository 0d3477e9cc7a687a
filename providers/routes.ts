/**
 * Known model routes: context window, output limit and list prices, frozen into a run at its start.
 * Prices are integer micro-USD per million tokens. Cache writes are priced for the five-minute cache, the
 * only one that is asked for. Models whose price depends on the length of the prompt are left out: one
 * price per token is all that a budget can reckon with, so their users declare the price to reckon with.
 */
import { HoldfastError } from '../core/errors.js';
import type { ModelRoute, Prices } from '../core/model.js';

/** Date of the price lists that the table was taken from. Change it with any price. */
export const PRICES_VERSION = '2026-10-24';

const USD = 1_000_000;

interface ModelRow {
  readonly model: string;
  /** USD per million tokens: input, output, cache read, cache write. */
  readonly usd: readonly [number, number, number, number];
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly temperatureAllowed: boolean;
}

const LARGE = { contextWindow: 1_000_000, maxOutputTokens: 128_000, temperatureAllowed: false };
const LARGE_WITH_TEMPERATURE = { ...LARGE, temperatureAllowed: true };
const SMALL = { contextWindow: 200_000, maxOutputTokens: 64_000, temperatureAllowed: true };

const ANTHROPIC: readonly ModelRow[] = [
  { model: 'claude-fable-5-1', usd: [10, 50, 0.25, 12.5], ...LARGE },
  { model: 'claude-fable-5', usd: [10, 50, 1, 12.5], ...LARGE },
  { model: 'claude-opus-5-5', usd: [4, 20, 0.2, 5], ...LARGE },
  { model: 'claude-opus-5', usd: [5, 25, 0.5, 6.25], ...LARGE },
  { model: 'claude-opus-4-8', usd: [5, 25, 0.5, 6.25], ...LARGE },
  { model: 'claude-opus-4-7', usd: [5, 25, 0.5, 6.25], ...LARGE },
  { model: 'claude-opus-4-6', usd: [5, 25, 0.5, 6.25], ...LARGE_WITH_TEMPERATURE },
  { model: 'claude-opus-4-5', usd: [5, 25, 0.5, 6.25], ...SMALL },
  { model: 'claude-opus-4-5-20251101', usd: [5, 25, 0.5, 6.25], ...SMALL },
  { model: 'claude-sonnet-5-5', usd: [2, 10, 0.1, 2.5], ...LARGE },
  { model: 'claude-sonnet-5', usd: [2, 10, 0.2, 2.5], ...LARGE },
  {
    model: 'claude-sonnet-4-6',
    usd: [3, 15, 0.3, 3.75],
    ...LARGE_WITH_TEMPERATURE,
    maxOutputTokens: 64_000,
  },
  { model: 'claude-haiku-4-5', usd: [1, 5, 0.1, 1.25], ...SMALL },
  { model: 'claude-haiku-4-5-20251001', usd: [1, 5, 0.1, 1.25], ...SMALL },
];

const SCRIPTED_PREFIX = 'scripted/';
const NAME_CHARS_MAX = 200;
const KNOWN: ReadonlyMap<string, ModelRoute> = new Map(
  ANTHROPIC.map((row) => [`anthropic/${row.model}`, routeOf(row)]),
);

/** Names of the built-in routes, in the order of the table. */
export function knownRoutes(): readonly string[] {
  return [...KNOWN.keys()];
}

/**
 * The route of a model by its `provider/model` name; `extra` are declared routes and win over built-in
 * ones. `scripted/<anything>` speaks the Anthropic protocol and is for tests, demos and benches.
 */
export function resolveRoute(name: string, extra: readonly ModelRoute[] = []): ModelRoute {
  const declared = extra.find((route) => route.name === name);
  const route = declared ?? KNOWN.get(name) ?? scriptedRoute(name);
  if (route !== undefined) return route;
  const known = [...extra.map((each) => each.name), ...KNOWN.keys(), 'scripted/<name>'];
  throw new HoldfastError(
    'UnknownModel',
    `Model ${JSON.stringify(name.slice(0, NAME_CHARS_MAX))} is not known.`,
    {
      hint:
        'Use a known name, or declare a route: { name: "provider/model", provider, model, contextWindow, ' +
        'maxOutputTokens, prices: { input, output, cacheRead, cacheWrite } in micro-USD per million tokens, ' +
        'pricesVersion, temperatureAllowed, thinkingAdaptive? }.',
      details: { known },
    },
  );
}

function scriptedRoute(name: string): ModelRoute | undefined {
  const model = name.slice(SCRIPTED_PREFIX.length);
  if (!name.startsWith(SCRIPTED_PREFIX) || model === '' || name.length > NAME_CHARS_MAX) {
    return undefined;
  }
  const row: ModelRow = { model, usd: [3, 15, 0.3, 3.75], ...SMALL };
  return { ...routeOf(row), name, pricesVersion: 'scripted' };
}

function routeOf(row: ModelRow): ModelRoute {
  const { model, usd, contextWindow, maxOutputTokens, temperatureAllowed } = row;
  return {
    name: `anthropic/${model}`,
    provider: 'anthropic',
    model,
    contextWindow,
    maxOutputTokens,
    prices: pricesOf(usd),
    pricesVersion: PRICES_VERSION,
    temperatureAllowed,
    // Models that take no temperature take no thinking budget either.
    ...(!temperatureAllowed && { thinkingAdaptive: true }),
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
