/**
 * What a request to a model cost that brought nothing (G25). Its activity says it; when that was cut off, between
 * two attempts for instance, the rows of its attempts do, and the run asks for them before it does anything else.
 * Invariant: a request that may have left counts, with its whole bound in money and tokens when nobody can say
 * what it cost; until then its reservation stays.
 */
import {
  refOf,
  type AccountCallOutput,
  type ActivityEffect,
  type EffectLimits,
} from '../state/effect.js';
import { storeWork } from '../step/clock.js';
import type { Failure } from '../state/failure.js';
import { flying, start } from '../step/inflight.js';
import { NO_USAGE, type Usage } from '../state/model.js';
import type { OpenRun, Step } from '../state/run.js';
import { settleReservation, addUsage } from './budget.js';
import { isCount } from '../json/count.js';

/** Failures that say by themselves that nothing was sent. */
const BEFORE_ANY_REQUEST: readonly Failure['code'][] = [
  'AuthError',
  'UnknownModel',
  'TranscriptMissing',
  'BudgetExhausted',
];

/** Ends the reservation of a failed effect with what its attempts cost, as far as its activity said it. */
export function billFailure(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  const details = failure.details ?? {};
  const said = details['lostCostMicroUsd'] !== undefined;
  if (!said && !BEFORE_ANY_REQUEST.includes(failure.code)) return { ...run, unheard: effectId };
  return bill(run, effectId, {
    costMicroUsd: amount(details['lostCostMicroUsd']),
    usage: usageOf(details['lostUsage']),
  });
}

/** A look into the store; the run waits for it, under rules without `workedTime` no longer than this. */
const ACCOUNT_LIMITS: EffectLimits = { attemptMs: 10_000, totalMs: 60_000, maximumAttempts: 0 };

/** The rule: what a model call cost of which nobody has heard again. */
export function accountForUnheard(run: OpenRun): Step<OpenRun> | 'hold' | undefined {
  const { unheard } = run;
  if (unheard === undefined) return undefined;
  if (flying(run, ['account_call'])) return 'hold';
  return start(run, 'account_call', (id, events): ActivityEffect => ({
    kind: 'account_call',
    id,
    input: { v: 1, run: refOf(run), effectId: unheard, events },
    limits: storeWork(run, ACCOUNT_LIMITS),
    summary: unheard,
  }));
}

export function callAccounted(run: OpenRun, _: string, output: AccountCallOutput): OpenRun {
  const { lostCostMicroUsd: costMicroUsd, lostUsage: usage } = output;
  return billUnheard(run, { costMicroUsd, usage });
}

/** Nobody can say it: the whole bound counts. */
export function callNotAccounted(run: OpenRun): OpenRun {
  const { asked, unheard = '' } = run;
  return billUnheard(run, {
    costMicroUsd: run.money.reserved[unheard] ?? 0,
    usage: asked === undefined ? NO_USAGE : usageOfBound(asked),
  });
}

interface Lost {
  readonly costMicroUsd: number;
  readonly usage: Usage;
}

function billUnheard({ unheard = '', ...run }: OpenRun, lost: Lost): OpenRun {
  return bill(run, unheard, lost);
}

function bill(run: OpenRun, effectId: string, { costMicroUsd, usage }: Lost): OpenRun {
  const spent = { billed: 0, lost: costMicroUsd };
  const { asked: _, ...settled } = settleReservation(run, effectId, spent);
  return { ...settled, tally: { ...run.tally, usage: addUsage(run.tally.usage, usage) } };
}

function usageOfBound({ inputTokens, outputTokens }: NonNullable<OpenRun['asked']>): Usage {
  return { ...NO_USAGE, input: inputTokens, output: outputTokens };
}

/** A count in data from outside; 0 when it is none. */
export function amount(value: unknown): number {
  return isCount(value) ? value : 0;
}

function usageOf(value: unknown): Usage {
  if (typeof value !== 'object' || value === null) return NO_USAGE;
  const usage = value as { readonly [key: string]: unknown };
  return {
    input: amount(usage['input']),
    output: amount(usage['output']),
    cacheRead: amount(usage['cacheRead']),
    cacheWrite: amount(usage['cacheWrite']),
  };
}
