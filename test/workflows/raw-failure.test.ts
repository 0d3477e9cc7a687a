/** Failures of Temporal in the words of the core. */
import { ActivityFailure, RetryState, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { rawLocalFailure } from '../../workflows/raw-failure.js';

test('a local activity that ran out of time is the same fact while the run goes on and in a replay', () => {
  const bare = new TimeoutFailure('Activity timed out', undefined, TimeoutType.SCHEDULE_TO_CLOSE);
  const within = new ActivityFailure(
    'Activity execution failed',
    'execute_tool',
    'a1',
    RetryState.TIMEOUT,
    'worker',
    bare,
  );
  const fact = { timedOut: true, timeoutType: 'SCHEDULE_TO_CLOSE' };
  expect(rawLocalFailure(bare)).toMatchObject(fact);
  expect(rawLocalFailure(bare)).toEqual(rawLocalFailure(within));
});

test('a bug is no failure of an activity', () => {
  expect(() => rawLocalFailure(new TypeError('x is undefined'))).toThrow(TypeError);
});
