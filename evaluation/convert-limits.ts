/** Budgets and settings of a case, with the profile of the first specification. */
import type { CaseBudget, CasePrice, CaseSettings } from './fixture.js';
import type { FixtureDocument } from './format/document.js';

export function budgetOf({ profile, budget = {} }: FixtureDocument): CaseBudget {
  return profile === 'strict001' ? { emptyResponseRetries: 0, ...budget } : budget;
}

const STRICT_001: Partial<CaseSettings> = {
  onDeny: 'refuse',
  onInvalid: 'refuse',
  onToolFailure: { mode: 'stop', threshold: 1, outcome: 'tool_failure' },
};

const DEFAULT_PRICE: CasePrice = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

export function settingsOf({
  profile,
  settings = {},
}: Pick<FixtureDocument, 'profile' | 'settings'>): CaseSettings {
  const { pricing, unknownModelPricing, ...rest } = settings;
  const prices = Object.entries(pricing ?? { '*': DEFAULT_PRICE });
  return {
    ...(profile === 'strict001' && STRICT_001),
    ...rest,
    pricing: new Map(prices.map(([model, price]) => [model, priceOf(price)])),
    ...(unknownModelPricing !== undefined && {
      unknownModelPricing:
        typeof unknownModelPricing === 'string'
          ? unknownModelPricing
          : priceOf(unknownModelPricing),
    }),
  };
}

/** Without prices of its own, the cache costs in proportion what it costs in the default table. */
function priceOf(written: Pick<CasePrice, 'input' | 'output'> & Partial<CasePrice>): CasePrice {
  return { cacheRead: written.input * 0.1, cacheWrite: written.input * 1.25, ...written };
}
