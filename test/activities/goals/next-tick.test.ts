import { nextTick } from '../../../activities/goal/next-tick.js';

function ticks(cron: string, timezone: string, after: string, count: number): readonly string[] {
  const found: string[] = [];
  let at = Date.parse(after);
  for (let tick = 0; tick < count; tick += 1) {
    at = nextTick({ cron, timezone }, at) ?? Number.NaN;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

const ZURICH = 'Europe/Zurich';

test('a tick is later than the time it is asked after', () => {
  expect(ticks('0 9 * * 1-5', ZURICH, '2026-07-31T07:00:00Z', 2)).toEqual([
    '2026-08-03T07:00',
    '2026-08-04T07:00',
  ]);
  expect(ticks('*/20 * * * *', 'UTC', '2026-01-01T00:19:59.999Z', 2)).toEqual([
    '2026-01-01T00:20',
    '2026-01-01T00:40',
  ]);
});

test('a local time that does not exist is the next that does', () => {
  expect(ticks('30 2 * * *', ZURICH, '2026-03-28T12:00:00Z', 2)).toEqual([
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ]);
  expect(ticks('*/15 2 * * *', ZURICH, '2026-03-28T12:00:00Z', 2)).toEqual([
    '2026-03-29T01:00',
    '2026-03-30T00:00',
  ]);
  expect(ticks('0 0 * * *', 'America/Santiago', '2026-09-05T12:00:00Z', 1)).toEqual([
    '2026-09-06T04:00',
  ]);
});

test('a local time that exists twice counts once', () => {
  expect(ticks('30 2 * * *', ZURICH, '2026-10-24T12:00:00Z', 2)).toEqual([
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ]);
  // Asked between the two.
  expect(ticks('30 2 * * *', ZURICH, '2026-10-25T00:45:00Z', 1)).toEqual(['2026-10-26T01:30']);
  expect(ticks('*/30 * * * *', ZURICH, '2026-10-24T23:40:00Z', 4)).toEqual([
    '2026-10-25T00:00',
    '2026-10-25T00:30',
    '2026-10-25T02:00',
    '2026-10-25T02:30',
  ]);
  expect(ticks('* * * * *', ZURICH, '2026-10-25T01:10:00Z', 1)).toEqual(['2026-10-25T02:00']);
});

test('zones whose clocks change by half an hour or by two hours', () => {
  expect(ticks('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 1)).toEqual([
    '2026-10-03T15:30',
  ]);
  expect(ticks('30 1 * * *', 'Antarctica/Troll', '2026-03-28T12:00:00Z', 2)).toEqual([
    '2026-03-29T01:00',
    '2026-03-29T23:30',
  ]);
});

test('a day that never comes has no tick', () => {
  expect(nextTick({ cron: '0 0 30 2 *', timezone: 'UTC' }, 0)).toBeNull();
});
