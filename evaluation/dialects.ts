/**
 * Stop reasons in the words of other specifications (C1): a pure projection of a result.
 * Invariant: code decides by the canonical reason; a dialect is for people and tests that know its words.
 */
import { errorSubtypeOf } from '../pure/sdk/result-message.js';
import type { RunResult, StopReason } from '../core/state/result.js';

export const DIALECTS = ['s000', 's001', 's002', 's004', 'sdk'] as const;
export type Dialect = (typeof DIALECTS)[number];

type Words = { readonly [reason in StopReason]?: string };

const S000: Words = {
  empty_response: 'no_final_answer_or_tool_call',
  max_turns: 'step_limit_reached',
  max_tool_calls: 'budget_exceeded',
  timeout: 'budget_exceeded',
  max_cost: 'budget_exceeded',
  max_input_tokens: 'budget_exceeded',
  max_output_tokens: 'budget_exceeded',
};

const S001: Words = {
  empty_response: 'refused',
  max_turns: 'max_steps',
};

const S002: Words = {
  completed: 'end_turn',
  empty_response: 'end_turn',
  max_cost: 'error_max_budget_usd',
};

/** The stop reason of a result in a dialect; without a word of its own there, the canonical one. */
export function stopReasonAs(
  result: Pick<RunResult, 'stopReason' | 'detail' | 'phase'>,
  dialect: Dialect,
): string {
  const { stopReason, detail, phase } = result;
  switch (dialect) {
    case 's000':
      return S000[stopReason] ?? stopReason;
    case 's001':
      // Its running case tells a blocked policy from other refusals.
      if (stopReason === 'refused' && detail === 'policy_blocked') return detail;
      return S001[stopReason] ?? stopReason;
    case 's002':
      return S002[stopReason] ?? stopReason;
    case 's004':
      if (stopReason !== 'interrupted' && stopReason !== 'aborted') return stopReason;
      return phase === 'tools' ? 'aborted_tools' : 'aborted_streaming';
    case 'sdk':
      return stopReason === 'completed' ? 'success' : errorSubtypeOf(stopReason);
  }
}
