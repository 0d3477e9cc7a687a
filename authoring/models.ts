/** What a configuration says about models and where they are reached. */
import type { MediaTaken } from '../core/state/attachment.js';
import { HoldfastError } from '../core/state/errors.js';
import type { ModelRoute, Prices, UnknownModels } from '../core/state/model.js';
import { isRecord } from '../pure/options.js';
import { partDefect, shown, unknownField, type KnownFields } from './known-fields.js';

/** A server of the user's own that speaks a vendor's protocol. */
export interface Endpoint {
  /** Routes name it: `provider`, and the first part of their name. */
  readonly name: string;
  /** Anthropic's Messages, OpenAI's Chat Completions (as gateways speak them) or Responses. */
  readonly protocol: 'messages' | 'chat' | 'responses';
  /** As the vendor's SDK takes it: for OpenAI's protocols with its version, `http://localhost:4000/v1`. */
  readonly baseUrl: string;
  /** The environment variable with its key; without one no key is sent that means anything. */
  readonly keyVariable?: string;
  /**
   * With 'chat', whose names of parameters it takes: OpenAI's newer ones, those of a gateway (LiteLLM), or only those that
   * every server knows. Default: 'gateway'.
   */
  readonly dialect?: 'openai' | 'gateway' | 'plain';
}

export const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const VARIABLE = /^[A-Z_][A-Z0-9_]{0,127}$/;
const BUILT_IN: readonly string[] = ['anthropic', 'openai', 'openai-responses', 'litellm'];

const ROUTE: KnownFields<ModelRoute> = {
  name: true,
  provider: true,
  model: true,
  contextWindow: true,
  maxOutputTokens: true,
  prices: true,
  pricesVersion: true,
  temperatureAllowed: true,
  thinkingAdaptive: true,
  thinkingAllowed: true,
  parallelCalls: true,
  takes: true,
};
const ENDPOINT: KnownFields<Endpoint> = {
  name: true,
  protocol: true,
  baseUrl: true,
  keyVariable: true,
  dialect: true,
};
const UNKNOWN: KnownFields<UnknownModels> = {
  prices: true,
  contextWindow: true,
  maxOutputTokens: true,
};
const PRICES: KnownFields<Prices> = {
  input: true,
  output: true,
  cacheRead: true,
  cacheWrite: true,
};

export function checkedRoutes(routes: readonly ModelRoute[]): readonly ModelRoute[] {
  const names = new Set<string>();
  for (const route of routes) {
    if (!isRecord(route)) throw wrong(`A route is ${shown(route)}.`, 'Give { name, prices, … }.');
    if (names.has(route.name)) {
      throw wrong(`Two routes are named ${route.name}.`, 'Rename one of the two routes.');
    }
    names.add(route.name);
    const unknown = unknownField(route, ROUTE);
    if (unknown !== undefined)
      throw wrong(`Route ${route.name} has no field ${unknown.name}.`, unknown.hint);
    checkPrices(route.prices, `Route ${route.name}`);
    if (!areTaken(route.takes)) throw wrongTakes(`Route ${route.name}`);
    if (!isSized(route) || !arePrices(route.prices)) {
      throw wrong(
        `Route ${route.name} has a price or size that is no whole number from 0.`,
        'Prices are integer micro-USD per million tokens: 3 USD is 3_000_000.',
      );
    }
  }
  return Object.freeze([...routes]);
}

/** `taken`: names of providers that the configuration has beside the built-in ones. */
export function checkedEndpoints(
  endpoints: readonly Endpoint[],
  taken: readonly string[] = [],
): readonly Endpoint[] {
  const names = new Set<string>([...BUILT_IN, ...taken]);
  for (const endpoint of endpoints) {
    if (!isRecord(endpoint))
      throw wrong(`An endpoint is ${shown(endpoint)}.`, 'Give { name, protocol, baseUrl }.');
    const { name, baseUrl, keyVariable, protocol, dialect } = endpoint;
    if (!NAME.test(name) || names.has(name)) {
      const hint = `Use lower-case letters, digits, ".", "_" and "-", and none of ${[...names].join(', ')}.`;
      throw wrong(`No endpoint can be called ${JSON.stringify(name)}.`, hint);
    }
    names.add(name);
    const unknown = unknownField(endpoint, ENDPOINT);
    if (unknown !== undefined)
      throw wrong(`Endpoint ${name} has no field ${unknown.name}.`, unknown.hint);
    if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
      throw wrong(`The baseUrl of endpoint ${name} is no URL.`, 'Use https://host/v1 or the like.');
    }
    if (!['messages', 'chat', 'responses'].includes(protocol)) {
      throw wrong(`Endpoint ${name} has no known protocol.`, 'Use messages, chat or responses.');
    }
    if (dialect !== undefined && !['openai', 'gateway', 'plain'].includes(dialect)) {
      throw wrong(`Endpoint ${name} has no known dialect.`, 'Use openai, gateway or plain.');
    }
    if (keyVariable !== undefined && !VARIABLE.test(keyVariable)) {
      const hint =
        'Name the variable, ACME_API_KEY for instance; the key itself stays out of code.';
      throw wrong(`The keyVariable of endpoint ${name} is no name of a variable.`, hint);
    }
  }
  return Object.freeze([...endpoints]);
}

export function checkedUnknownModels(unknown: UnknownModels): UnknownModels {
  const defect = partDefect('unknownModels', unknown, UNKNOWN);
  if (defect !== undefined) throw wrong(`The field ${defect.what}.`, defect.hint);
  const { prices, contextWindow = 1, maxOutputTokens = 1 } = unknown;
  if (typeof prices === 'object') checkPrices(prices, 'unknownModels');
  const priced =
    prices === 'fail' || prices === 'zero' || (typeof prices === 'object' && arePrices(prices));
  if (!priced || !isSized({ contextWindow, maxOutputTokens })) {
    throw wrong(
      'unknownModels has a price or size that is no whole number from 0.',
      "Prices are 'fail', 'zero', or integer micro-USD per million tokens.",
    );
  }
  return Object.freeze({ ...unknown });
}

/** Errors: InvalidConfig, for what is no price of anything. */
export function checkPrices(prices: unknown, whose: string): void {
  const defect = partDefect('prices', prices, PRICES);
  if (defect !== undefined) throw wrong(`${whose}: ${defect.what}.`, defect.hint);
}

export function arePrices(prices: Prices): boolean {
  const { input, output, cacheRead, cacheWrite } = prices;
  return [input, output, cacheRead, cacheWrite].every(isCount);
}

export function isSized(model: Pick<ModelRoute, 'contextWindow' | 'maxOutputTokens'>): boolean {
  return isCount(model.contextWindow) && isCount(model.maxOutputTokens);
}

export function areTaken(takes: MediaTaken | undefined): boolean {
  if (takes === undefined) return true;
  const known: readonly string[] = ['image', 'documentPage', 'documentPages', 'soundSecond'];
  return (
    typeof takes === 'object' &&
    takes !== null &&
    Object.entries(takes).every(([name, tokens]) => known.includes(name) && isCount(tokens))
  );
}

export function wrongTakes(what: string): HoldfastError {
  return wrong(
    `${what} does not say in \`takes\` what it reads.`,
    'Give the most tokens that the model counts for each: { image: 1_600, documentPage: 4_600, soundSecond: 32 }, and leave out what it does not read.',
  );
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

function wrong(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `The configuration cannot be used. ${what}`, { hint });
}
