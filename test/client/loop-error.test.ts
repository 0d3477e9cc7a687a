import { LoopError } from '../../client/index.js';
import type { SDKResultError } from '../../pure/sdk/message.js';
import { RESULT } from '../store/fixtures.js';

test('the error of runOrThrow says what to do in the words of the last message', () => {
  const result = { ...RESULT, nextSafeAction: 'Resume the session with a new run.' };
  const errors = ['interrupted', 'Start a new run.', 'an earlier trouble'];
  const ending = { type: 'result', run_result: result, errors } as unknown as SDKResultError;
  expect(new LoopError(ending).hint).toBe('Start a new run.');
  const bare = { ...ending, run_result: RESULT, errors: ['max_cost', 'an earlier trouble'] };
  expect(new LoopError(bare).hint).toBeUndefined();
});
