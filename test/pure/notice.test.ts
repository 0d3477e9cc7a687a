/** What becomes of a notice after a try. */
import {
  fateOf,
  mayTry,
  NOTICE_AGE_MS_MAX,
  NOTICE_PAUSE_MS_MAX,
  NOTICE_TRIES_MAX,
  type NoticeReply,
  type NoticeTry,
} from '../../pure/notice.js';

const answered = (status: number, retryAfterMs?: number): NoticeReply => ({
  kind: 'answered',
  status,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const DOWN: NoticeReply = { kind: 'no_answer' };
const FIRST = { tries: 1, firstAt: 1_000, at: 1_000, chance: 1 };

const fate = (reply: NoticeReply, over: Partial<NoticeTry> = {}) =>
  fateOf({ ...FIRST, reply, ...over });

function pauseAfter(reply: NoticeReply, over: Partial<NoticeTry> = {}): number {
  const found = fate(reply, over);
  if (found.state !== 'waiting') throw new Error(`It is ${found.state}.`);
  return found.nextAt - (over.at ?? FIRST.at);
}

test.each([200, 204, 299])('%d means that it was taken', (status) => {
  expect(fate(answered(status))).toEqual({ state: 'sent' });
});

test.each([
  [answered(302), 'status 302'],
  [answered(401), 'status 401'],
  [answered(500), 'status 500'],
  [DOWN, 'no answer'],
])('%j is tried again, and says what went wrong', (reply, fault) => {
  expect(fate(reply)).toEqual({ state: 'waiting', fault, nextAt: 6_000 });
});

test('pauses grow threefold up to an hour, and chance takes up to half of each away', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 60].map((tries) => pauseAfter(DOWN, { tries }));
  expect(pauses.map((ms) => ms / 1_000)).toEqual([5, 15, 45, 135, 405, 1215, 3600, 3600, 3600]);
  for (const tries of [1, 5, 60]) {
    const [whole, half] = [pauseAfter(DOWN, { tries }), pauseAfter(DOWN, { tries, chance: 0 })];
    expect(half).toBe(Math.round(whole / 2));
  }
});

test('whoever is gone is not asked again', () => {
  expect(fate(answered(410))).toEqual({ state: 'given_up', fault: 'status 410' });
});

test('a pause that the receiver asks for is kept, if it is longer than ours and no longer than an hour', () => {
  for (const status of [429, 503]) {
    expect(fate(answered(status, 60_000))).toEqual({
      state: 'waiting',
      fault: `status ${status}`,
      nextAt: 61_000,
      quietUntil: 61_000,
    });
  }
  expect(pauseAfter(answered(429, 1_000), { tries: 4 })).toBe(135_000);
  expect(pauseAfter(answered(429, 1e15))).toBe(NOTICE_PAUSE_MS_MAX);
});

test.each([
  ['of another status', answered(500, 60_000)],
  ['of nothing', answered(429, 0)],
  ['that is no number', answered(503, Number.NaN)],
])('a pause %s is none', (_what, reply) => {
  expect(fate(reply)).toEqual({ state: 'waiting', fault: expect.any(String), nextAt: 6_000 });
});

test('it is tried for three days, the last time at their end, and then given up', () => {
  const lastAt = FIRST.firstAt + NOTICE_AGE_MS_MAX;
  const late = { tries: 60, at: lastAt - 1_000 };
  expect(fate(DOWN, late)).toMatchObject({ nextAt: lastAt });
  expect(fate(answered(429, 60_000), late)).toMatchObject({ nextAt: late.at + 60_000 });
  expect(fate(DOWN, { tries: 61, at: lastAt })).toEqual({ state: 'given_up', fault: 'no answer' });
  expect(fate(answered(200), { tries: 61, at: lastAt })).toEqual({ state: 'sent' });
});

test.each([0, 0.5, 1])('it comes to an end, whatever the receiver says (chance %d)', (chance) => {
  for (const reply of [DOWN, answered(500), answered(429, 1), answered(503, 1e12)]) {
    let [tries, at] = [1, 0];
    for (;;) {
      const next = fateOf({ reply, tries, firstAt: 0, at, chance });
      if (next.state !== 'waiting') break;
      expect(next.nextAt).toBeGreaterThan(at);
      expect(next.nextAt - at).toBeLessThanOrEqual(NOTICE_PAUSE_MS_MAX);
      [tries, at] = [tries + 1, next.nextAt];
    }
    expect(tries).toBeLessThan(NOTICE_TRIES_MAX);
    expect(at).toBeLessThanOrEqual(NOTICE_AGE_MS_MAX + NOTICE_PAUSE_MS_MAX);
  }
});

test('tries that ended in a crash count too, and are so many', () => {
  expect(fate(DOWN, { tries: NOTICE_TRIES_MAX })).toMatchObject({ state: 'given_up' });
  expect([NOTICE_TRIES_MAX, NOTICE_TRIES_MAX + 1].map(mayTry)).toEqual([true, false]);
});
