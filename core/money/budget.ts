/**
 * Money is reserved before it is spent.
 * Invariants:
 *  B1 No request leaves unless spent + reserved + its bound ≤ limit. Of tokens only those of the reply are
 *     bounded so: a prompt's are counted when it has been read, and its size is limited by the context window (G26, G28).
 *  B2 A reservation ends with its effect, whatever came back, or when it is known what that cost.
 *  B3 What was billed above the bound is told; where it also breaks the limit, nothing starts after it.
 *  B4 Costs are integer micro-USD, rounded up once a call; no floating point beyond the exact product of two integers
 *     below 2^53.
 */
import { DEFAULT_BUDGET } from '../state/budget-fields.js';
import type { ModelRetries, SpendingLeft } from '../state/effect.js';
import type { AttemptBound, Prices, Usage } from '../state/model.js';
import type { StopReason } from '../state/result.js';
import type { OpenRun } from '../state/run.js';
import { follows } from '../step/changes.js';
import { countedMs, left, reached } from '../step/clock.js';
import { mediaTokens } from '../step/media.js';
import { warn, warnOnce } from '../step/outbox.js';
import { currentRoute } from '../step/route.js';

export interface RequestBound extends AttemptBound {
  readonly maxTokens: number;
}

/** Where the bytes are not known, one model's count of a text is taken for at most so many times another's. */
const TOKENIZER_RATIO_MAX = 2;

/** Most tokens that the next request's prompt can have: counted prefix plus one token per new byte; G111. */
export function promptTokensBound(run: OpenRun): number {
  const { knownTokens, newBytes, countedBy, bytes, media, newMedia } = run.context;
  const route = currentRoute(run);
  const foreign = countedBy !== undefined && countedBy !== route.name;
  const counted = foreign ? media : newMedia;
  const ofMedia = counted === undefined ? 0 : mediaTokens(counted, route);
  if (foreign && bytes !== undefined && follows(run, 'bytesBound')) return bytes + ofMedia;
  return knownTokens * (foreign ? TOKENIZER_RATIO_MAX : 1) + newBytes + ofMedia;
}

export interface Wanted {
  /** Bytes that the request says beside the conversation. */
  readonly extraBytes?: number;
  /** Longest reply; default: as long as the budget and the model allow. */
  readonly outputTokens?: number;
  /** What tools that the vendor runs may add. */
  readonly hosted?: Pick<AttemptBound, 'inputTokens' | 'fees'>;
}

/** The next request's bound, or the budget that it does not fit. */
export function fitRequest(
  run: OpenRun,
  { extraBytes = 0, outputTokens = Number.POSITIVE_INFINITY, hosted }: Wanted = {},
): RequestBound | { readonly misfit: StopReason } {
  const { budget, settings } = run.frozen;
  const route = currentRoute(run);
  const inputTokens = promptTokensBound(run) + extraBytes + (hosted?.inputTokens ?? 0);
  const fees = hosted?.fees?.most ?? 0;
  const outputLeft = left(run.tally.usage.output, budget.maxOutputTokens);
  const money = left(committedMicroUsd(run), budget.maxCostMicroUsd);
  const affordable = Number.isFinite(money)
    ? affordableOutput(money - fees, inputTokens, route.prices)
    : Number.POSITIVE_INFINITY;
  const wanted = Math.min(budget.maxTokensPerResponse, route.maxOutputTokens, outputTokens);
  if (outputLeft < settings.minOutputTokens) return { misfit: 'max_output_tokens' };
  if (affordable < settings.minOutputTokens) return { misfit: 'max_cost' };
  const maxTokens = Math.min(wanted, outputLeft, affordable);
  return {
    maxTokens,
    inputTokens,
    costMicroUsd: boundMicroUsd(inputTokens, maxTokens, route.prices) + fees,
    ...(hosted?.fees !== undefined && { fees: hosted.fees }),
  };
}

/** Before a request, before a call starts (or starts again after a start that did nothing), and before the last word of a run. */
export type CheckPoint = 'between_turns' | 'before_call' | 'before_restart' | 'last_word';

/** The first budget that is used up, in a fixed order; turns only between turns (C2). */
export function trip(run: OpenRun, when: CheckPoint): StopReason | undefined {
  const { budget, settings } = run.frozen;
  const { tally } = run;
  if (when === 'between_turns' || when === 'last_word') {
    const turns = settings.turnCounting === 'logical' ? tally.turnCount : tally.modelCalls;
    if (reached(turns, budget.maxTurns)) return 'max_turns';
    if (reached(tally.modelCalls, budget.maxModelCalls)) return 'max_turns';
  }
  const callsTool = when === 'between_turns' || when === 'before_call';
  if (callsTool && reached(tally.toolCalls, budget.maxToolCalls)) return 'max_tool_calls';
  if (reached(countedMs(run), budget.timeoutMs)) return 'timeout';
  return moneyTrip(run);
}

/** Money and tokens only: what a reply may have used up. */
export function moneyTrip(run: OpenRun): StopReason | undefined {
  const { budget } = run.frozen;
  if (run.money.overrun || reached(run.money.spentMicroUsd, budget.maxCostMicroUsd))
    return 'max_cost';
  if (reached(inputUsed(run), budget.maxInputTokens)) return 'max_input_tokens';
  if (reached(run.tally.usage.output, budget.maxOutputTokens)) return 'max_output_tokens';
  return undefined;
}

/** What all attempts of the next model call together may cost and use; null: no limit. */
export function leftToSpend(run: OpenRun): SpendingLeft {
  const { budget } = run.frozen;
  return {
    costMicroUsd: finite(left(run.money.spentMicroUsd, budget.maxCostMicroUsd)),
    inputTokens: finite(left(inputUsed(run), budget.maxInputTokens)),
    outputTokens: finite(left(run.tally.usage.output, budget.maxOutputTokens)),
  };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** How often a model call that failed is tried again, by class (C27). */
export function modelRetries({ frozen }: Pick<OpenRun, 'frozen'>): ModelRetries {
  const { maxServerErrorRetries, maxRetriesPerModelCall: other } = {
    ...DEFAULT_BUDGET,
    ...frozen.budget,
  };
  return { serverError: Math.min(maxServerErrorRetries, other), other };
}

/** Spent plus everything reserved. */
export function committedMicroUsd(run: OpenRun): number {
  return Object.values(run.money.reserved).reduce(
    (sum, amount) => sum + amount,
    run.money.spentMicroUsd,
  );
}

export function reserve(run: OpenRun, effectId: string, microUsd: number): OpenRun {
  const reserved = { ...run.money.reserved, [effectId]: microUsd };
  return { ...run, money: { ...run.money, reserved } };
}

export interface Spent {
  /** For the attempt that brought the reply: one attempt is what the bound is for. */
  readonly billed: number;
  /** For attempts that brought none. */
  readonly lost: number;
  /** Default: the model call. */
  readonly by?: 'the tool call' | 'the sub-agent' | 'the supervisor';
}

/** Ends a reservation with what the call really cost. */
export function settleReservation(run: OpenRun, effectId: string, spent: Spent): OpenRun {
  const { [effectId]: bound, ...reserved } = run.money.reserved;
  const spentMicroUsd = Math.min(2 ** 53 - 1, run.money.spentMicroUsd + spent.billed + spent.lost);
  const above = bound !== undefined && spent.billed > bound;
  const { maxCostMicroUsd } = run.frozen.budget;
  const breaks = above && maxCostMicroUsd !== 'unlimited' && spentMicroUsd > maxCostMicroUsd;
  const money = { spentMicroUsd, reserved, overrun: run.money.overrun || breaks };
  const settled = { ...run, money };
  if (!above) return settled;
  const { by = 'the model call' } = spent;
  const text = `${by} was billed with ${spent.billed} micro-USD, its bound was ${bound}`;
  return warn(settled, 'billed_above_bound', text);
}

/** So many turns in a row take at least twice the one before. */
const DOUBLINGS = 3;
/** Below this the last of them is not worth a word. */
const ALARM_FROM = { cost: 50_000, tokens: 30_000 } as const;
const TOLD = {
  cost: ['the cost of a turn has doubled', 'micro-USD'],
  tokens: ['the tokens of a turn have doubled', 'tokens'],
} as const;

/** After each reply the alarm on turns that keep doubling: with all that was spent since the reply before. */
export function watchGrowth(run: OpenRun, usage: Usage): OpenRun {
  if (!follows(run, 'growthTold')) return run;
  const { spentMicroUsd } = run.money;
  const before = run.growth ?? { cost: [], tokens: [], spentMicroUsd: 0 };
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  const growth = {
    cost: [...before.cost, spentMicroUsd - before.spentMicroUsd].slice(-1 - DOUBLINGS),
    tokens: [...before.tokens, tokens].slice(-1 - DOUBLINGS),
    spentMicroUsd,
  };
  return (['cost', 'tokens'] as const).reduce<OpenRun>(
    (next, what) => {
      const turns = growth[what];
      if ((turns.at(-1) ?? 0) < ALARM_FROM[what] || !keepDoubling(turns)) return next;
      const [words, unit] = TOLD[what];
      const told = `${words} ${DOUBLINGS} times in a row: ${turns.join(', ')} ${unit}`;
      return warnOnce(next, 'cost_exploding', told);
    },
    { ...run, growth },
  );
}

function keepDoubling(turns: readonly number[]): boolean {
  if (turns.length <= DOUBLINGS) return false;
  return turns.every((one, at) => at === 0 || one >= 2 * Math.max(1, turns[at - 1] ?? 0));
}

/** Replies have used up what the budget allows, in money or tokens (C8, G92). */
export function isOverrun(run: OpenRun): boolean {
  return run.tally.modelCalls > 0 && moneyTrip(run) !== undefined;
}

export function inputUsed(run: OpenRun): number {
  const { input, cacheRead, cacheWrite } = run.tally.usage;
  return input + cacheRead + cacheWrite;
}

const TOKENS_PER_PRICE = 1_000_000;

/** Cost of one call in micro-USD: ⌈Σ tokens × price⌉, prices per million tokens. */
export function costMicroUsd(usage: Usage, prices: Prices): number {
  const total =
    usage.input * prices.input +
    usage.output * prices.output +
    usage.cacheRead * prices.cacheRead +
    usage.cacheWrite * prices.cacheWrite;
  return Math.ceil(total / TOKENS_PER_PRICE);
}

/** The dearest way a prompt token can be billed: plainly, or by way of the cache. */
export function inputPrice(prices: Prices): number {
  return Math.max(prices.input, prices.cacheWrite, prices.cacheRead);
}

/** Most that `inputTokens` of prompt and `outputTokens` of reply can cost, in micro-USD. */
export function boundMicroUsd(inputTokens: number, outputTokens: number, prices: Prices): number {
  return Math.ceil(
    (inputTokens * inputPrice(prices) + outputTokens * prices.output) / TOKENS_PER_PRICE,
  );
}

/** How many output tokens `microUsd` still pay for after `inputTokens` of prompt; may be negative. */
export function affordableOutput(microUsd: number, inputTokens: number, prices: Prices): number {
  if (prices.output === 0) {
    return boundMicroUsd(inputTokens, 0, prices) <= microUsd ? Number.POSITIVE_INFINITY : -1;
  }
  const forOutput = microUsd * TOKENS_PER_PRICE - inputTokens * inputPrice(prices);
  return Math.floor(forOutput / prices.output);
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}
