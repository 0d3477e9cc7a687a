/** How long a start waits until its run is open. */
import type { Link } from '../../../client/link.js';
import { afterStart, waitingOf } from '../../../client/runs/until-open.js';

const LINK = {} as Link;

test('a start without a limit waits 30 s, and ten minutes while only a worker is late', () => {
  const expected = { limitMs: 30_000, goesOnLimitMs: 600_000, needsWorker: true };
  expect(waitingOf(LINK, {})).toEqual(expected);
});

test('a limit that is given is the longest wait, also for a worker', () => {
  for (const wait of [undefined, true]) {
    const waiting = waitingOf(LINK, { wait, openLimitMs: 500 });
    expect(waiting).toMatchObject({ limitMs: 500, goesOnLimitMs: 500 });
  }
});

test('a start that waits for a worker waits a day', () => {
  const day = 86_400_000;
  const expected = { limitMs: day, goesOnLimitMs: day, needsWorker: false };
  expect(waitingOf(LINK, { wait: true })).toEqual(expected);
});

const after = (
  openLimitMs: number | undefined,
  elapsedMs: number,
  { link = LINK, own = {} } = {},
) => {
  const { began, ...waiting } = waitingOf(link, { openLimitMs });
  return afterStart(link, { ...waiting, ...(began && { began: began - elapsedMs }) }, own);
};

test('what went by before the start counts in a limit that is given, and in no other', () => {
  const { beforeMs } = after(100_000, 3_000);
  expect(beforeMs).toBeGreaterThanOrEqual(3_000);
  expect(beforeMs).toBeLessThan(50_000);
  expect(after(undefined, 3_000).beforeMs).toBe(0);
});

test.each([
  [20_000, 10_000],
  [1_500, 1_000],
  [500, 500],
])('of a limit of %d ms the opening has %d ms at least', (limitMs, openingMs) => {
  expect(limitMs - (after(limitMs, 60_000).beforeMs ?? 0)).toBe(openingMs);
});

test('a start that could not ask its store waits knowing that', () => {
  const link = { store: {} } as Link;
  expect(after(5_000, 0, { link }).storeAway).toBe(true);
  expect(after(5_000, 0, { link, own: { store: 'its id' } }).storeAway).toBe(false);
  expect(after(5_000, 0).storeAway).toBe(false);
});
