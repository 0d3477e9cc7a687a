/** How long a start waits until its run is open. */
import type { Link } from '../../../client/link.js';
import { waitingOf } from '../../../client/runs/until-open.js';

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
