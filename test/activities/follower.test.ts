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

test('who follows on is called once, when the follower has aborted', () => {
  const followed = new AbortController();
  const seen: boolean[] = [];
  const own = follower(followed.signal, () => void seen.push(own.signal.aborted));
  expect(seen).toEqual([]);
  followed.abort();
  expect(seen).toEqual([true]);
});

test('who follows on what has aborted is called at once', () => {
  let called = 0;
  follower(AbortSignal.abort(), () => void (called += 1));
  expect(called).toBe(1);
});
