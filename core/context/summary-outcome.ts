/**
 * A summary of the conversation has come back, or none could be made (G34). Records it and what it cost;
 * what it leads to is the rule's business (after-compaction.ts).
 */
import { isCount } from '../json/count.js';
import { follows } from '../step/changes.js';
import { nearTheEnd } from '../step/clock.js';
import { mayLackRoom, mediaTokens } from '../step/media.js';
import type { CompactOutput } from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import { promptTokensBound, settleReservation, costMicroUsd, addUsage } from '../money/budget.js';
import { billFailure } from '../money/unheard-cost.js';
import type { StopReason } from '../state/result.js';
import { currentRoute } from '../step/route.js';
import { hasHooks, type CompactionOutcome, type OpenRun } from '../state/run.js';
import { compactionsOf, withCurrent } from './compaction.js';

export function compacted(run: OpenRun, effectId: string, output: CompactOutput): OpenRun {
  const { usage, lostUsage } = output;
  const { asked: _, ...spent } = settleReservation(run, effectId, {
    billed: costMicroUsd(usage, currentRoute(run).prices),
    lost: output.lostCostMicroUsd,
  });
  const tally = { ...run.tally, usage: addUsage(addUsage(run.tally.usage, usage), lostUsage) };
  // What stays was part of the conversation before, and the rest is the summary; files that had no room may have some now.
  const counted = promptTokensBound(run) + usage.output + returningTokens(run);
  return withOutcome({ ...spent, tally }, effectId, {
    kind: 'summary',
    head: output.head,
    tokens: output.tokens,
    bound: Math.min(
      counted,
      output.bytes === undefined
        ? counted
        : output.bytes + mediaTokens(run.context.media, currentRoute(run)),
    ),
    ...(output.answerKept && { answerKept: true as const }),
    ...(run.context.bytes !== undefined && output.bytes !== undefined && { bytes: output.bytes }),
  });
}

function returningTokens(run: OpenRun): number {
  const { media } = run.context;
  const route = currentRoute(run);
  return media !== undefined && mayLackRoom(media, route) ? mediaTokens(media, route) : 0;
}

export function notCompacted(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  const billed = billFailure(run, effectId, failure);
  const limit = limitBehind(run, failure);
  return withOutcome(billed, effectId, {
    kind: 'none',
    message: failure.message,
    ...(limit !== undefined && { limit }),
    ...(isOfTheApi(run, failure) && {
      error: { code: failure.code, attempts: attemptsOf(failure) },
    }),
  });
}

/** A request was made, and answered with an error. */
function isOfTheApi(run: OpenRun, failure: Failure): boolean {
  const told = follows(run, 'summaryFailuresTold') && hasHooks(run, 'StopFailure');
  return told && !failure.cancelled && failure.code !== 'Aborted' && attemptsOf(failure) > 0;
}

function attemptsOf({ details, attempts = 1 }: Failure): number {
  const made = details?.['attempts'];
  return isCount(made) ? made : attempts;
}

function withOutcome(run: OpenRun, effectId: string, outcome: CompactionOutcome): OpenRun {
  const { current } = compactionsOf(run);
  return current?.effectId === effectId ? withCurrent(run, { ...current, outcome }) : run;
}

const BUDGETS: readonly StopReason[] = ['max_cost', 'max_input_tokens', 'max_output_tokens'];

function limitBehind(run: OpenRun, failure: Failure): StopReason | undefined {
  if (failure.timedOut && nearTheEnd(run)) return 'timeout';
  if (failure.code !== 'BudgetExhausted') return undefined;
  return BUDGETS.find((budget) => budget === failure.details?.['budget']) ?? 'max_cost';
}
