/** Models of the AI SDK's packages that a configuration brings along, checked, with the routes that runs freeze. */
import { HoldfastError } from '../core/state/errors.js';
import type { MediaTaken } from '../core/state/attachment.js';
import type { Json } from '../core/json/json.js';
import type { ModelRoute, Prices, UnknownModels } from '../core/state/model.js';
import { modelDefect, SPECIFICATIONS, type LanguageModel } from '../pure/language-model.js';
import { unknownField, type KnownFields } from './known-fields.js';
import { arePrices, areTaken, checkPrices, isSized, NAME, wrongTakes } from './models.js';

/** A model with what a run has to know of it. */
export interface LanguageModelEntry {
  readonly model: LanguageModel;
  /** In tokens. */
  readonly contextWindow?: number;
  /** In tokens. */
  readonly maxOutputTokens?: number;
  /** Integer micro-USD per million tokens. Where money is limited, a model without them is refused. */
  readonly prices?: Prices;
  /** The date of the price list; default: 'configured'. */
  readonly pricesVersion?: string;
  /** Default: true. */
  readonly temperatureAllowed?: boolean;
  /** Default: as the interface has it, which v2 and v3 have not. */
  readonly thinkingAllowed?: boolean;
  /** What it reads beside text, with the most tokens of each; default: nothing. */
  readonly takes?: MediaTaken;
  /** Sent with every request, as the vendor's package takes them: `{ google: { … } }`. */
  readonly providerOptions?: { readonly [vendor: string]: { readonly [option: string]: Json } };
}

/** A model of an AI SDK package with its prices and window. */
export type LanguageModelDefinition = LanguageModel | LanguageModelEntry;

/** One model that went by a name, or several. */
export type RetiredModels = LanguageModelDefinition | readonly LanguageModelDefinition[];

export interface ConfiguredModel {
  readonly model: LanguageModel;
  readonly route: ModelRoute;
  /** What the configuration does not say of it, in words; absent: its window and prices are known. */
  readonly unsaid?: string;
  readonly providerOptions?: { readonly [vendor: string]: Json };
}

const ENTRY: KnownFields<LanguageModelEntry> = {
  model: true,
  contextWindow: true,
  maxOutputTokens: true,
  prices: true,
  pricesVersion: true,
  temperatureAllowed: true,
  thinkingAllowed: true,
  takes: true,
  providerOptions: true,
};
const FREE: Prices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const CONTEXT_WINDOW = 200_000;
const MAX_OUTPUT_TOKENS = 16_384;
const OPTIONS_CHARS_MAX = 20_000;

export interface Declared {
  readonly routes: readonly ModelRoute[];
  readonly unknownModels: UnknownModels;
}

export function checkedLanguageModels(
  definitions: { readonly [name: string]: LanguageModelDefinition },
  declared: Declared,
): ReadonlyMap<string, ConfiguredModel> {
  const models = new Map<string, ConfiguredModel>();
  for (const [name, definition] of Object.entries(definitions)) {
    if (!NAME.test(name)) {
      const hint = 'Use lower-case letters, digits, ".", "_" and "-".';
      throw wrong(`No model can be called ${JSON.stringify(name)}.`, hint);
    }
    if (declared.routes.some((route) => route.name === name)) {
      throw wrong(`A route and a model are named ${name}.`, 'Rename one of the two.');
    }
    models.set(name, configured(name, entryOf(name, definition), declared.unknownModels));
  }
  return models;
}

/** Errors: InvalidConfig, also for one that is still there. */
export function checkedRetiredModels(
  retired: { readonly [name: string]: RetiredModels },
  models: ReadonlyMap<string, ConfiguredModel>,
): readonly ConfiguredModel[] {
  const known = new Set([...models.values()].map(({ route }) => route.provider));
  return Object.entries(retired).flatMap(([name, given]) => {
    const all = Array.isArray(given) ? given : [given as LanguageModelDefinition];
    return (all as readonly LanguageModelDefinition[]).map((definition) => {
      // Runs carry window and prices of their own.
      const model = configured(name, entryOf(name, definition), { prices: 'zero' });
      const { provider } = model.route;
      if (NAME.test(name) && !known.has(provider)) {
        known.add(provider);
        return model;
      }
      const hint = 'Name each model once, by the name that runs began with.';
      throw wrong(`retiredModels names ${JSON.stringify(provider.slice(0, 200))}.`, hint);
    });
  });
}

function entryOf(name: string, definition: LanguageModelDefinition): LanguageModelEntry {
  const isEntry =
    typeof definition === 'object' &&
    definition !== null &&
    !('specificationVersion' in definition);
  const entry: LanguageModelEntry = isEntry ? definition : { model: definition };
  const defect = modelDefect(entry.model);
  if (defect !== undefined) {
    const hint =
      `Give it a model of an AI SDK package, google('gemini-…') for instance, or { model, contextWindow, … }: ` +
      `an object whose specificationVersion is one of ${SPECIFICATIONS.join(', ')}.`;
    throw wrong(`The model ${name} cannot be asked: ${defect}.`, hint);
  }
  const unknown = isEntry ? unknownField(entry, ENTRY) : undefined;
  if (unknown !== undefined)
    throw wrong(`The model ${name} has no field ${unknown.name}.`, unknown.hint);
  return entry;
}

function configured(
  name: string,
  entry: LanguageModelEntry,
  unknownModels: UnknownModels,
): ConfiguredModel {
  const { model, providerOptions } = entry;
  const known = unknownModels.prices === 'fail' ? {} : reckonedWith(unknownModels);
  const { contextWindow, maxOutputTokens, prices } = { ...known, ...entry };
  const unsaid = [
    ...(contextWindow === undefined ? ['context window'] : []),
    ...(maxOutputTokens === undefined ? ['output limit'] : []),
    ...(prices === undefined ? ['prices'] : []),
  ];
  const route: ModelRoute = {
    name,
    // A run goes on with the very model that it began with: another one under the name is another provider.
    provider: `${name}:${model.modelId}`,
    model: model.modelId,
    contextWindow: contextWindow ?? CONTEXT_WINDOW,
    maxOutputTokens: maxOutputTokens ?? MAX_OUTPUT_TOKENS,
    prices: prices ?? FREE,
    pricesVersion: entry.pricesVersion ?? (prices === undefined ? 'unknown' : 'configured'),
    temperatureAllowed: entry.temperatureAllowed ?? true,
    thinkingAllowed: entry.thinkingAllowed ?? model.specificationVersion === 'v4',
    ...(entry.takes !== undefined && { takes: entry.takes }),
  };
  if (!areTaken(entry.takes)) throw wrongTakes(`The model ${name}`);
  checkPrices(route.prices, `The model ${name}`);
  if (!isSized(route) || !arePrices(route.prices)) {
    throw wrong(
      `The model ${name} has a price or size that is no whole number from 0.`,
      'Prices are integer micro-USD per million tokens: 3 USD is 3_000_000.',
    );
  }
  const options = providerOptions === undefined ? undefined : checkedOptions(name, providerOptions);
  return Object.freeze({
    model,
    route,
    ...(unsaid.length > 0 && { unsaid: unsaid.join(', ') }),
    ...(options !== undefined && { providerOptions: options }),
  });
}

function reckonedWith({ prices, contextWindow, maxOutputTokens }: UnknownModels) {
  return {
    contextWindow: contextWindow ?? CONTEXT_WINDOW,
    maxOutputTokens: maxOutputTokens ?? MAX_OUTPUT_TOKENS,
    prices: typeof prices === 'string' ? FREE : prices,
  };
}

/** As JSON, so that nothing that changes later is sent. */
function checkedOptions(name: string, options: unknown): { readonly [vendor: string]: Json } {
  const text = typeof options === 'object' ? JSON.stringify(options) : undefined;
  if (text === undefined || text.length > OPTIONS_CHARS_MAX || !text.startsWith('{')) {
    const hint = `Give an object of at most ${OPTIONS_CHARS_MAX} characters as JSON: { google: { … } }.`;
    throw wrong(`The providerOptions of model ${name} cannot be sent.`, hint);
  }
  return JSON.parse(text) as { readonly [vendor: string]: Json };
}

function wrong(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `The configuration cannot be used. ${what}`, { hint });
}
