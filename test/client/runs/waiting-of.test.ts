/** How long a start waits until its run is open. */
import type { Link } from '../../../client/link.js';
import { STORE_AWAY, unlessStoreAway } from '../../../client/store-away.js';
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

const before = (link: Link, openLimitMs: number | undefined, own: { readonly store?: string }) =>
  afterStart(link, waitingOf(link, { openLimitMs }), { began: performance.now() - 3_000, own });

test('what went by before the start counts in a limit that is given, and in no other', () => {
  const { beforeMs } = before(LINK, 100_000, {});
  expect(beforeMs).toBeGreaterThanOrEqual(3_000);
  expect(beforeMs).toBeLessThan(100_000);
  // A look is left, and no more.
  expect(before(LINK, 2_000, {}).beforeMs).toBe(1_999);
  expect(before(LINK, undefined, {}).beforeMs).toBe(0);
});

test('a start that could not ask its store waits knowing that', () => {
  const link = { store: {} } as Link;
  expect(before(link, 5_000, {}).storeAway).toBe(true);
  expect(before(link, 5_000, { store: 'its id' }).storeAway).toBe(false);
  expect(before(LINK, 5_000, {}).storeAway).toBe(false);
});

test('of a limit that is given the store has half, and time to answer at all', () => {
  expect(waitingOf(LINK, { openLimitMs: 4_000 }).storeLimitMs).toBe(2_000);
  expect(waitingOf(LINK, { openLimitMs: 100 }).storeLimitMs).toBe(1_000);
  expect(waitingOf(LINK, {}).storeLimitMs).toBeUndefined();
});

test('a store without an answer counts as away when the wait for it is over', async () => {
  const never = () => new Promise<never>(() => undefined);
  const short = unlessStoreAway({}, never, 1).then((told) => ['short', told]);
  const usual = unlessStoreAway({}, never).then((told) => ['usual', told]);
  expect(await Promise.race([usual, short])).toEqual(['short', STORE_AWAY]);
});
