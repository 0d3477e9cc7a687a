/**
 * What follows a compaction (C5, C20, G34, G35): the conversation goes on under its new head, or as if it
 * could not be made shorter.
 * Invariants: a summary that does not shrink the context is none; counters change exactly as pure/transitions.ts says: no
 * recovery is given back, no turn and no model call is counted.
 */
import type { TransitionReason } from '../state/event.js';
import { only } from '../step/inflight.js';
import { emit, warn } from '../step/outbox.js';
import type {
  CompactionOutcome,
  Compactions,
  CurrentCompaction,
  OpenRun,
  Step,
} from '../state/run.js';
import { notifyFailure } from '../hooks/background.js';
import { exceed } from '../money/exceed.js';
import { currentRoute } from '../step/route.js';
import { stop } from '../step/stop.js';
import { continueOrStop } from './go-on.js';
import { compactionsOf, triggerOf, withCurrent } from './compaction.js';
import { contextAfterSummary, tokensOf } from '../step/conversation.js';

const TRANSITIONS: { readonly [cause in CurrentCompaction['cause']]: TransitionReason } = {
  threshold: 'proactive_compact',
  max_tokens: 'max_tokens_compact_retry',
  prompt_too_long: 'reactive_compact_retry',
};

/** Rule: what a summary that has come back leads to, before the limits are looked at again. */
export function afterCompaction(run: OpenRun): Step<OpenRun> | undefined {
  const { current, ...compactions } = compactionsOf(run);
  if (current?.outcome === undefined) return undefined;
  const { outcome } = current;
  const next: OpenRun = { ...run, phase: 'checking_limits', compactions };
  if (outcome.kind === 'summary' && outcome.tokens <= mostAllowed(run, current)) {
    return only(shortened(next, current, outcome));
  }
  const why =
    outcome.kind === 'none'
      ? outcome.message
      : `${outcome.tokens} of ${current.preTokens} tokens would be left`;
  const warned = warn(next, 'not_compacted', why);
  if (outcome.kind === 'summary' || outcome.error === undefined)
    return only(notShortened(warned, current, outcome));
  const { error, message, limit } = outcome;
  const failure = { ...error, message, outOfTime: limit === 'timeout' };
  const notified = notifyFailure(warned, failure, 'compaction');
  return { run: notShortened(notified.run, current, outcome), effects: notified.effects };
}

/** Largest context that counts as a shorter one. */
function mostAllowed(run: OpenRun, { cause, preTokens }: CurrentCompaction): number {
  const { minCompactionGain } = run.frozen.settings;
  return cause === 'threshold' ? Math.floor(preTokens * (1 - minCompactionGain)) : preTokens - 1;
}

type Summary = Extract<CompactionOutcome, { kind: 'summary' }>;

function shortened(run: OpenRun, current: CurrentCompaction, summary: Summary): OpenRun {
  const { cause, preTokens } = current;
  const { tokens, head } = summary;
  const next: OpenRun = {
    ...(cause === 'max_tokens' ? withoutCut(run, current, summary) : run),
    head,
    pending: [],
    nextMessage: run.nextMessage + 1,
    context: { ...contextAfterSummary(run.context, summary), countedBy: currentRoute(run).name },
    compactions: counted(run, compactionsOf(run), cause),
  };
  const told = emit(next, {
    type: 'compact_boundary',
    trigger: triggerOf(current),
    preTokens,
    postTokens: tokens,
  });
  return emit(told, { type: 'transition', reason: TRANSITIONS[cause] });
}

/** What was cut off is no part of the conversation any more: it is said anew, with what came before it unless that stays. */
function withoutCut(run: OpenRun, { cut }: CurrentCompaction, { answerKept }: Summary): OpenRun {
  const { partialOutput: _, answerFrom, ...rest } = run;
  const { before } = cut ?? {};
  return answerKept && before !== undefined && answerFrom !== undefined
    ? { ...rest, partialOutput: before, answerFrom }
    : rest;
}

function counted(
  run: OpenRun,
  compactions: Compactions,
  cause: CurrentCompaction['cause'],
): Compactions {
  const usedBefore = tokensOf(run.tally.usage);
  return cause === 'threshold'
    ? { ...compactions, usedBefore, proactive: compactions.proactive + 1 }
    : { ...compactions, usedBefore, reactive: compactions.reactive + 1 };
}

function notShortened(
  run: OpenRun,
  { cause, preTokens, cut }: CurrentCompaction,
  outcome: CompactionOutcome,
): OpenRun {
  const limit = outcome.kind === 'none' ? outcome.limit : undefined;
  if (cause === 'prompt_too_long') {
    // Wanted as before, should a person allow more of what it lacked.
    const wanted = withCurrent(run, { cause, preTokens });
    return limit === undefined ? stop(run, 'prompt_too_long') : exceed(wanted, limit);
  }
  const next = cause === 'max_tokens' ? continueOrStop(run, cut?.empty === true) : run;
  return limit === 'timeout' && next.stopping === undefined ? exceed(next, limit) : next;
}
