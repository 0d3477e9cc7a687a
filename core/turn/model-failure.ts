/**
 * A model call that failed for good: which stop that is (C37), or a compaction (CC-18). Retries happened in
 * the activity, by class.
 */
import { mayReact, wantCompaction } from '../context/compaction.js';
import { exceed } from '../money/exceed.js';
import { emit } from '../outbox.js';
import type { ModelFailure, OpenRun } from '../run.js';
import { stop } from '../stop.js';
import type { StopReason } from '../result.js';

const REMEDIES: { readonly [code: string]: string } = {
  AuthError: 'Set a valid API key for the model provider, then start again.',
  TranscriptMissing: 'Restore the store from its backup; a newer copy is safe.',
  InvalidRequest: 'Look at the message of the provider; the request itself is wrong.',
  UnknownModel: 'Choose a model that the provider knows.',
};

export function afterModelFailure(run: OpenRun, failure: ModelFailure): OpenRun {
  const { modelFailure: _, ...rest } = run;
  const told = emit(rest, {
    type: 'model_error',
    call: run.requests,
    class: failure.code,
    message: failure.message,
    attempts: failure.attempts,
  });
  if (failure.outOfTime) return exceed(told, 'timeout');
  if (failure.code === 'PromptTooLong') {
    return mayReact(told)
      ? wantCompaction(told, { cause: 'prompt_too_long' })
      : stop(told, 'prompt_too_long');
  }
  if (failure.code === 'ContentRefused') return stop(told, 'refused', { detail: 'model_refusal' });
  if (failure.code === 'BudgetExhausted') return exceed(told, exhausted(failure));
  const next = REMEDIES[failure.code];
  return stop(told, 'failed', {
    detail: `model_error:${failure.code}`,
    ...(next !== undefined && { nextSafeAction: next }),
  });
}

const BUDGETS: readonly StopReason[] = ['max_cost', 'max_input_tokens', 'max_output_tokens'];

function exhausted(failure: ModelFailure): StopReason {
  return BUDGETS.find((budget) => budget === failure.budget) ?? 'max_cost';
}
