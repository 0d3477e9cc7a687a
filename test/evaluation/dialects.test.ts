import { DIALECTS, stopReasonAs } from '../../evaluation/dialects.js';
import type { RunStatus, StopReason } from '../../core/state/result.js';
import { nextSafeActionFor, statusOfStop } from '../../core/step/stop.js';

const BUDGET = 'budget_exceeded';
const SDK_ERROR = 'error_during_execution';

/** By reason: its status, then its words in s000, s001, s002, s004 and sdk; '' stands for the reason itself. */
const TABLE: { readonly [reason in StopReason]: readonly [RunStatus, ...string[]] } = {
  completed: ['completed', '', '', 'end_turn', '', 'success'],
  empty_response: ['stopped', 'no_final_answer_or_tool_call', 'refused', 'end_turn', '', SDK_ERROR],
  evidence_missing: ['stopped', '', '', '', '', SDK_ERROR],
  invalid_output: ['failed', '', '', '', '', 'error_max_structured_output_retries'],
  refused: ['stopped', '', '', '', '', SDK_ERROR],
  needs_human: ['stopped', '', '', '', '', SDK_ERROR],
  tool_failure: ['failed', '', '', '', '', SDK_ERROR],
  tool_unavailable: ['failed', '', '', '', '', SDK_ERROR],
  max_turns: ['stopped', 'step_limit_reached', 'max_steps', '', '', 'error_max_turns'],
  max_tool_calls: ['stopped', BUDGET, '', '', '', SDK_ERROR],
  timeout: ['stopped', BUDGET, '', '', '', SDK_ERROR],
  max_cost: ['stopped', BUDGET, '', 'error_max_budget_usd', '', 'error_max_budget_usd'],
  max_input_tokens: ['stopped', BUDGET, '', '', '', SDK_ERROR],
  max_output_tokens: ['stopped', BUDGET, '', '', '', SDK_ERROR],
  max_tokens: ['stopped', '', '', '', '', SDK_ERROR],
  prompt_too_long: ['stopped', '', '', '', '', SDK_ERROR],
  stop_hook_prevented: ['stopped', '', '', '', '', SDK_ERROR],
  interrupted: ['cancelled', '', '', '', 'aborted_streaming', SDK_ERROR],
  aborted: ['cancelled', '', '', '', 'aborted_streaming', SDK_ERROR],
  failed: ['failed', '', '', '', '', SDK_ERROR],
};

const REASONS = Object.keys(TABLE) as StopReason[];

describe('a stop reason', () => {
  test.each(REASONS)('%s has the words of each dialect', (stopReason) => {
    const [, ...words] = TABLE[stopReason];
    expect(DIALECTS.map((dialect) => stopReasonAs({ stopReason }, dialect))).toEqual(
      words.map((word) => word || stopReason),
    );
  });

  test.each(REASONS)(
    '%s has its status, and says what to do unless the run completed',
    (reason) => {
      expect(statusOfStop(reason)).toBe(TABLE[reason][0]);
      expect(nextSafeActionFor({ reason }) === undefined).toBe(reason === 'completed');
    },
  );

  test.each([
    ['before_model', 'aborted_streaming'],
    ['streaming', 'aborted_streaming'],
    ['before_tools', 'aborted_streaming'],
    ['tools', 'aborted_tools'],
  ] as const)('of a person at %s is %s in s004', (phase, word) => {
    expect(stopReasonAs({ stopReason: 'interrupted', phase }, 's004')).toBe(word);
    expect(stopReasonAs({ stopReason: 'aborted', phase }, 's004')).toBe(word);
  });

  test('refused by a blocked policy has a word of its own in s001', () => {
    const blocked = { stopReason: 'refused', detail: 'policy_blocked' } as const;
    expect(stopReasonAs(blocked, 's001')).toBe('policy_blocked');
    expect(stopReasonAs({ ...blocked, detail: 'denied_action' }, 's001')).toBe('refused');
    expect(stopReasonAs(blocked, 's000')).toBe('refused');
  });
});
