/**
 * The last message: how a run ended, in the words of the SDK.
 * Invariant: `is_error` is the opposite of the run's `completed`; only a completed run has a `result`.
 */
import type { RunEvent } from '../../core/state/event.js';
import type { StoredText } from '../../core/json/json.js';
import type { RunResult, StopReason } from '../../core/state/result.js';
import type { Usage } from '../../core/state/model.js';
import { nextActionAfter } from '../next-action.js';
import type { SDKMessageBase, SDKResultError, SDKResultMessage, SDKUsage } from './message.js';
import type { Projection } from './projection.js';

/** Gives the whole text of what a message shows. */
export type ReadText = (text: StoredText) => string;

export interface Ending {
  readonly state: Projection;
  readonly event: Extract<RunEvent, { type: 'run_result' }>;
  readonly base: SDKMessageBase;
  readonly read: ReadText;
}

export function resultMessage({ state, event, base, read }: Ending): SDKResultMessage {
  const { result } = event;
  const common = {
    ...base,
    type: 'result',
    duration_ms: Math.max(0, event.stamp.at - state.startedAt),
    duration_api_ms: state.apiMs,
    num_turns: result.counters.modelCalls,
    stop_reason: state.stopReason,
    total_cost_usd: result.costMicroUsd / 1e6,
    usage: usageOf(result.usage),
    modelUsage: state.modelUsage,
    permission_denials: state.denials,
    run_result: result,
  } as const;
  if (!result.completed) {
    const errors = [...whyOf(result, state), ...state.errors];
    const subtype = errorSubtypeOf(result.stopReason);
    return { ...common, subtype, is_error: true, errors };
  }
  return {
    ...common,
    subtype: 'success',
    is_error: false,
    result: result.answer === undefined ? '' : read(result.answer),
    ...(result.output !== undefined && { structured_output: result.output }),
  };
}

export function usageOf(usage: Usage): SDKUsage {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
  };
}

const ERRORS: { readonly [reason in StopReason]?: SDKResultError['subtype'] } = {
  invalid_output: 'error_max_structured_output_retries',
  max_turns: 'error_max_turns',
  max_cost: 'error_max_budget_usd',
};

/** What SDKs call an ending without an answer for this reason. */
export function errorSubtypeOf(stopReason: StopReason): SDKResultError['subtype'] {
  return ERRORS[stopReason] ?? 'error_during_execution';
}

function whyOf(result: RunResult, { known }: Projection): readonly string[] {
  const { stopReason, detail } = result;
  const next = nextActionAfter(result, known);
  const why = detail === undefined ? stopReason : `${stopReason}: ${detail}`;
  return next === undefined ? [why] : [why, next];
}
