/**
 * A model call that failed for good, recorded with what it cost; then the fallback takes over, a compaction is wanted,
 * or the run stops (C37, G32). Retries happened in the activity, by class.
 * Invariant: the id of a message that a tombstone names is never given to another message (G33).
 */
import { mayReact, wantCompaction } from '../context/compaction.js';
import { notifyFailure } from '../hooks/background.js';
import { exceed } from '../money/exceed.js';
import { amount, billFailure } from '../money/unheard-cost.js';
import { hintOf, type Failure } from '../state/failure.js';
import type { StopReason } from '../state/result.js';
import type { ModelFailure, OpenRun, Run, Step } from '../state/run.js';
import { follows } from '../step/changes.js';
import { nearTheEnd } from '../step/clock.js';
import { messageIdAt } from '../step/conversation.js';
import { only } from '../step/inflight.js';
import { emit } from '../step/outbox.js';
import { hasFallback, onFallback } from '../step/route.js';
import { stop } from '../step/stop.js';
import { retriesIn, tellRetries } from './retries.js';

export function recordModelFailure(run: OpenRun, effectId: string, failure: Failure): Run {
  const billed = billFailure(run, effectId, failure);
  const details = failure.details ?? {};
  if (failure.cancelled || run.stopping !== undefined) return billed;
  const budget = details['budget'];
  const retried = retriesIn(details['retried']);
  const hint = follows(run, 'failureHints') ? hintOf(failure) : undefined;
  return {
    ...billed,
    phase: 'checking_limits',
    modelFailure: {
      code: isSilence(run, failure) ? 'NetworkTimeout' : failure.code,
      message: failure.message,
      attempts: amount(details['attempts']) || (failure.attempts ?? 1),
      outOfTime: failure.timedOut === true && nearTheEnd(run),
      ...(typeof budget === 'string' && { budget }),
      ...(retried.length > 0 && { retried }),
      ...(details['partial'] === true && { partial: true }),
      ...(hint !== undefined && { hint }),
    },
  };
}

/** Its time ran out and nothing answered. An attempt that has failed by itself says what it cost. */
function isSilence(run: OpenRun, { timedOut, code, details }: Failure): boolean {
  const isTold = follows(run, 'ownErrorFirst') && details !== undefined;
  return timedOut === true && code === 'Internal' && !isTold;
}

/** Failures of the model's servers: another model may well answer. */
const SERVED_BY_FALLBACK: readonly string[] = ['RateLimited', 'Overloaded', 'ServerError'];

/** Where the failure itself says nothing better. */
const REMEDIES: { readonly [code: string]: string } = {
  AuthError: 'Set a valid API key for the model provider, then start again.',
  TranscriptMissing: 'Restore the store from its backup; a newer copy is safe.',
  InvalidRequest: 'Look at the message of the provider; the request itself is wrong.',
  UnknownModel: 'Choose a model that the provider knows.',
};

/** Not the end of the run: another model is asked (C37). */
function isLeftToFallback(run: OpenRun, { code, outOfTime }: ModelFailure): boolean {
  return !outOfTime && SERVED_BY_FALLBACK.includes(code) && hasFallback(run);
}

/** Rule: hooks are told of what no fallback takes over; then the failure is dealt with. */
export function modelFailed(run: OpenRun): Step<OpenRun> | undefined {
  const { modelFailure } = run;
  if (modelFailure === undefined) return undefined;
  const notified = isLeftToFallback(run, modelFailure)
    ? only(run)
    : notifyFailure(run, modelFailure);
  return { run: afterModelFailure(notified.run, modelFailure), effects: notified.effects };
}

function afterModelFailure(run: OpenRun, failure: ModelFailure): OpenRun {
  const { modelFailure: _, ...rest } = run;
  const told = emit(tellRetries(rest, failure.retried), {
    type: 'model_error',
    call: run.requests,
    class: failure.code,
    message: failure.message,
    attempts: failure.attempts,
  });
  if (failure.outOfTime) return exceed(told, 'timeout');
  if (isLeftToFallback(told, failure)) return fallBack(told, failure);
  if (failure.code === 'PromptTooLong') {
    return mayReact(told) && run.wrapUp === undefined
      ? wantCompaction(told, { cause: 'prompt_too_long' })
      : stop(told, 'prompt_too_long');
  }
  if (failure.code === 'ContentRefused') return stop(told, 'refused', { detail: 'model_refusal' });
  if (failure.code === 'BudgetExhausted') return exceed(told, exhausted(failure));
  const next = failure.hint ?? REMEDIES[failure.code];
  return stop(told, 'failed', {
    detail: `model_error:${failure.code}`,
    ...(next !== undefined && { nextSafeAction: next }),
  });
}

/** What the failed model left behind was no message yet: consumers are told to forget it. */
function fallBack(run: OpenRun, failure: ModelFailure): OpenRun {
  const cleared = failure.partial ? withTombstone(run, failure) : run;
  return emit(onFallback(cleared), { type: 'transition', reason: 'model_fallback' });
}

function withTombstone(run: OpenRun, { code }: ModelFailure): OpenRun {
  const buried = { ...run, nextMessage: run.nextMessage + 1 };
  return emit(buried, { type: 'tombstone', targetMessageId: messageIdAt(run), reason: code });
}

const BUDGETS: readonly StopReason[] = ['max_cost', 'max_input_tokens', 'max_output_tokens'];

function exhausted(failure: ModelFailure): StopReason {
  return BUDGETS.find((budget) => budget === failure.budget) ?? 'max_cost';
}
