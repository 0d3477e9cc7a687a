import { DIALECTS, stopReasonAs } from '../../core/dialects.js';

describe('a stop reason in another dialect', () => {
  test.each([
    ['max_turns', ['step_limit_reached', 'max_steps', 'max_turns', 'max_turns', 'error_max_turns']],
    ['completed', ['completed', 'completed', 'end_turn', 'completed', 'success']],
    [
      'max_cost',
      ['budget_exceeded', 'max_cost', 'error_max_budget_usd', 'max_cost', 'error_max_budget_usd'],
    ],
    [
      'empty_response',
      [
        'no_final_answer_or_tool_call',
        'refused',
        'end_turn',
        'empty_response',
        'error_during_execution',
      ],
    ],
  ] as const)('%s has the words of each', (stopReason, words) => {
    expect(DIALECTS.map((dialect) => stopReasonAs({ stopReason }, dialect))).toEqual(words);
  });

  test('an interruption is named by where it struck', () => {
    expect(stopReasonAs({ stopReason: 'interrupted', phase: 'tools' }, 's004')).toBe(
      'aborted_tools',
    );
    expect(stopReasonAs({ stopReason: 'aborted', phase: 'before_tools' }, 's004')).toBe(
      'aborted_streaming',
    );
  });
});
