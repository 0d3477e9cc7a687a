import { follower } from '../../activities/follower.js';

test('a follower aborts with the signal that it follows, for its reason', () => {
  const followed = new AbortController();
  const { signal } = follower(followed.signal);
  expect(signal.aborted).toBe(false);
  followed.abort('a shutdown');
  expect([signal.aborted, signal.reason]).toEqual([true, 'a shutdown']);
});

test('a follower of what has aborted has aborted', () => {
  const { signal } = follower(AbortSignal.abort('before'));
  expect([signal.aborted, signal.reason]).toEqual([true, 'before']);
});

test('a follower that aborts by itself leaves the other alone, and keeps its own reason', () => {
  const followed = new AbortController();
  const own = follower(followed.signal);
  own.abort('its own');
  expect(followed.signal.aborted).toBe(false);
  followed.abort('late');
  expect(own.signal.reason).toBe('its own');
});
