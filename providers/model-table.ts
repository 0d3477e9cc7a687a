/**
 * The models that are known without being declared, with their list prices, by vendor.
 * Cache writes are priced for the five-minute cache, the only one that is asked for; a vendor that takes
 * nothing for them takes the price of the input. Models whose price depends on the length of the prompt are
 * left out: one price per token is all that a budget can reckon with, so their users declare the price to
 * reckon with.
 */
import type { MediaTaken } from '../core/state/attachment.js';

export interface ModelRow {
  readonly model: string;
  /** USD per million tokens: input, output, cache read, cache write. */
  readonly usd: readonly [number, number, number, number];
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly temperatureAllowed: boolean;
  /** Absent: it thinks within a budget, or within none if it takes no temperature. */
  readonly thinking?: 'never' | 'effort';
  /** Absent: what most models of its vendor read. */
  readonly takes?: MediaTaken;
}

export interface VendorTable {
  /** Those that speak with its models: the first part of a route's name. */
  readonly providers: readonly string[];
  /** Date of the price list that the rows were taken from. Change it with any price. */
  readonly pricesVersion: string;
  /** Most tokens: of a picture in the highest resolution, of a page as text and picture. */
  readonly takes: MediaTaken;
  readonly rows: readonly ModelRow[];
}

const LARGE = { contextWindow: 1_000_000, maxOutputTokens: 128_000, temperatureAllowed: false };
const LARGE_WITH_TEMPERATURE = { ...LARGE, temperatureAllowed: true };
export const SMALL = {
  contextWindow: 200_000,
  maxOutputTokens: 64_000,
  temperatureAllowed: true,
} as const;

const ANTHROPIC_TAKES: MediaTaken = { image: 5_000, documentPage: 8_000 };
/** A model with a small window is sent fewer pages. */
const CLAUDE_SMALL = { ...SMALL, takes: { ...ANTHROPIC_TAKES, documentPages: 100 } };

const ANTHROPIC: readonly ModelRow[] = [
  { model: 'claude-fable-5-1', usd: [10, 50, 0.25, 12.5], ...LARGE },
  { model: 'claude-fable-5', usd: [10, 50, 1, 12.5], ...LARGE },
  { model: 'claude-opus-5-5', usd: [4, 20, 0.2, 5], ...LARGE },
  { model: 'claude-opus-5', usd: [5, 25, 0.5, 6.25], ...LARGE },
  { model: 'claude-opus-4-8', usd: [5, 25, 0.5, 6.25], ...LARGE },
  { model: 'claude-opus-4-7', usd: [5, 25, 0.5, 6.25], ...LARGE },
  { model: 'claude-opus-4-6', usd: [5, 25, 0.5, 6.25], ...LARGE_WITH_TEMPERATURE },
  { model: 'claude-opus-4-5', usd: [5, 25, 0.5, 6.25], ...CLAUDE_SMALL },
  { model: 'claude-opus-4-5-20251101', usd: [5, 25, 0.5, 6.25], ...CLAUDE_SMALL },
  { model: 'claude-sonnet-5-5', usd: [2, 10, 0.1, 2.5], ...LARGE },
  { model: 'claude-sonnet-5', usd: [2, 10, 0.2, 2.5], ...LARGE },
  {
    model: 'claude-sonnet-4-6',
    usd: [3, 15, 0.3, 3.75],
    ...LARGE_WITH_TEMPERATURE,
    maxOutputTokens: 64_000,
  },
  { model: 'claude-haiku-4-5', usd: [1, 5, 0.1, 1.25], ...CLAUDE_SMALL },
  { model: 'claude-haiku-4-5-20251001', usd: [1, 5, 0.1, 1.25], ...CLAUDE_SMALL },
];

const GPT_4O = {
  contextWindow: 128_000,
  maxOutputTokens: 16_384,
  temperatureAllowed: true,
  thinking: 'never',
} as const;
const GPT_4_1 = { ...GPT_4O, contextWindow: 1_047_576, maxOutputTokens: 32_768 } as const;
/** Models that reason take an effort, and no temperature. */
const GPT_5 = {
  contextWindow: 400_000,
  maxOutputTokens: 128_000,
  temperatureAllowed: false,
  thinking: 'effort',
} as const;
const O_SERIES = { ...GPT_5, contextWindow: 200_000, maxOutputTokens: 100_000 } as const;

const OPENAI: readonly ModelRow[] = [
  { model: 'gpt-5.2', usd: [1.75, 14, 0.175, 1.75], ...GPT_5 },
  { model: 'gpt-5.1', usd: [1.25, 10, 0.125, 1.25], ...GPT_5 },
  { model: 'gpt-5', usd: [1.25, 10, 0.125, 1.25], ...GPT_5 },
  { model: 'gpt-5-mini', usd: [0.25, 2, 0.025, 0.25], ...GPT_5 },
  { model: 'gpt-5-nano', usd: [0.05, 0.4, 0.005, 0.05], ...GPT_5 },
  { model: 'o3', usd: [2, 8, 0.5, 2], ...O_SERIES },
  { model: 'o4-mini', usd: [1.1, 4.4, 0.275, 1.1], ...O_SERIES },
  { model: 'gpt-4.1', usd: [2, 8, 0.5, 2], ...GPT_4_1 },
  { model: 'gpt-4.1-mini', usd: [0.4, 1.6, 0.1, 0.4], ...GPT_4_1 },
  { model: 'gpt-4.1-nano', usd: [0.1, 0.4, 0.025, 0.1], ...GPT_4_1 },
  { model: 'gpt-4o', usd: [2.5, 10, 1.25, 2.5], ...GPT_4O },
  {
    model: 'gpt-4o-mini',
    usd: [0.15, 0.6, 0.075, 0.15],
    ...GPT_4O,
    takes: { image: 50_000, documentPage: 53_000 },
  },
];

export const VENDOR_TABLES: readonly VendorTable[] = [
  {
    providers: ['anthropic'],
    pricesVersion: '2026-10-24',
    takes: ANTHROPIC_TAKES,
    rows: ANTHROPIC,
  },
  {
    providers: ['openai', 'openai-responses'],
    pricesVersion: '2026-11-05',
    takes: { image: 5_000, documentPage: 8_000 },
    rows: OPENAI,
  },
];
