import { rateLimit, slots } from '../../console/http/rate.js';
import { Problem, problemOf, problemResponse } from '../../console/http/problem.js';
import { HoldfastError } from '../../core/state/errors.js';

test('so many requests a minute, then as time passes', () => {
  let now = 0;
  const limit = rateLimit(60, () => now);
  const waits = Array.from({ length: 70 }, () => limit.take('mia'));
  expect(waits.filter((seconds) => seconds === 0)).toHaveLength(60);
  expect(limit.take('ann')).toBe(0);
  now += 1_000;
  expect(limit.take('mia')).toBe(0);
  expect(limit.take('mia')).toBeGreaterThan(0);
  now += 3_600_000;
  expect(
    Array.from({ length: 70 }, () => limit.take('mia')).filter((one) => one === 0),
  ).toHaveLength(60);
});

test('a clock that is set back keeps nobody out', () => {
  let now = 7_200_000;
  const limit = rateLimit(60, () => now);
  expect(limit.take('mia')).toBe(0);
  now -= 3_600_000;
  expect(limit.take('mia')).toBe(0);
});

test('names without number take no memory without number', () => {
  const limit = rateLimit(1, () => 0);
  for (let index = 0; index < 30_000; index += 1) limit.take(`name-${index}`);
  // The newest is remembered, the oldest is not.
  expect(limit.take('name-29999')).toBeGreaterThan(0);
  expect(limit.take('name-0')).toBe(0);
});

test('streams of one person and of all are so many, and given back once', () => {
  const free = slots(2, 3);
  const first = free.take('mia');
  expect(free.take('mia')).toBeDefined();
  expect(free.take('mia')).toBeUndefined();
  expect(free.take('ann')).toBeDefined();
  expect(free.take('bob')).toBeUndefined();
  first?.();
  first?.();
  expect(free.take('bob')).toBeDefined();
  expect(free.take('bob')).toBeUndefined();
});

test('what nobody expected says nothing of the inside', async () => {
  const secrets = new Error('password=hunter2 at /srv/holdfast/store.db');
  const bodies = await Promise.all(
    [
      secrets,
      new HoldfastError('Internal', 'The server at 10.0.0.7:7233 refused the call: secret'),
      new HoldfastError('ServerUnavailable', 'No Temporal server answers at 10.0.0.7:7233.'),
      new HoldfastError('StoreUnavailable', 'The store failed: /srv/holdfast/store.db'),
      'a text',
    ].map((error) => problemResponse(problemOf(error, () => 'ref-1')).text()),
  );
  expect(bodies.join('\n')).not.toMatch(/hunter2|10\.0\.0\.7|srv|secret/);
  expect(bodies[0]).toContain('ref-1');
  expect(problemOf(new Problem(429, { code: 'too_many' }), () => '')).toMatchObject({
    status: 429,
  });
});

test('a client that is closed while its process ends is an outage to whoever asks over HTTP', () => {
  const closed = { hint: 'Connect again.', details: { closed: true } };
  const problem = problemOf(new HoldfastError('Usage', 'Closed.', closed), () => 'ref-1');
  expect(problem).toMatchObject({ status: 503, facts: { code: 'unavailable' } });
  expect(problem.facts.headers).toHaveProperty('retry-after');
});
