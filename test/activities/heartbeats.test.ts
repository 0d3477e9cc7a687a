import { beatMs } from '../../activities/heartbeats.js';

const TEN_SECONDS = 10_000;

test('an activity with few beside it tells of itself often, so that a stop reaches it soon', () => {
  expect(beatMs(TEN_SECONDS, 1)).toBe(500);
  expect(beatMs(TEN_SECONDS, 25)).toBe(500);
});

test('many activities share what the server is told in a second', () => {
  expect(beatMs(TEN_SECONDS, 100)).toBe(2_000);
  expect(beatMs(60_000, 500)).toBe(10_000);
});

test('two heartbeats may be lost before a worker counts as dead, however many run', () => {
  expect(beatMs(TEN_SECONDS, 10_000)).toBe(3_333);
  expect(beatMs(1_000, 10_000)).toBe(333);
  expect(beatMs(1, 1)).toBe(100);
});

test('without a timeout nobody counts as dead', () => {
  expect(beatMs(Number.POSITIVE_INFINITY, 1_000)).toBe(20_000);
});
