/**
 * Events that are taken by their form alone, against Temporal's reader: each event of kept histories, and the same with
 * something in it changed.
 */
import { historyJson } from '../../activities/history-json.js';
import type { HistoryEvent } from '../../recording/history.js';
import { brokenHistory } from '../../replay/broken-history.js';
import { runsOf } from '../../replay/tree.js';
import { keptHistories, readKept } from '../../lab/seal/kept-histories.js';
import { drawn } from '../draw.js';
import { saySeed, SEED } from '../seed.js';

const DRAWN = 30;
const CHANGES_OF_EVENT = 3;

const events = drawn(keptHistories(), DRAWN, SEED)
  .flatMap((kept) => runsOf(readKept(kept)))
  .flatMap(({ segments }) => segments.flatMap((segment) => segment.events));
saySeed(`${events.length} events of ${DRAWN} kept histories`);

/** Of every kind of field, what is and what is not of it. */
const OTHER_KINDS: readonly (readonly unknown[])[] = [
  [
    null,
    true,
    1,
    -1,
    1.5,
    2 ** 31,
    2 ** 32,
    Infinity,
    {},
    [],
    [null],
    { a: 1 },
    { constructor: 1 },
  ],
  ['', '1', '-1', 'x', 'ab==', 'ab=c', 'a===', 'ab-_', '\u{d800}', '9'.repeat(18), '9'.repeat(20)],
  ['0s', '-1s', '1.0000000001s', '9999999999999s', '1.5', 'toString', 'EVENT_TYPE_TIMER_FIRED'],
  [
    '2024-02-29T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2024-04-31T10:00:00Z',
    '2024-12-31T23:59:59.5Z',
  ],
  ['2024-13-01T00:00:00Z', '2024-01-01T24:00:00Z', '0000-01-01T00:00:00Z', '2024-01-01'],
];
const OTHERS = OTHER_KINDS.flat();

type Path = readonly string[];

function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = [...path, name];
    return [place, ...pathsIn(inner, place)];
  });
}

function changed(event: HistoryEvent, path: Path, other: unknown): object {
  const copy = structuredClone(event) as Record<string, unknown>;
  const holder = path
    .slice(0, -1)
    .reduce<Record<string, unknown>>((one, name) => one[name] as Record<string, unknown>, copy);
  holder[path.at(-1)!] = other;
  return copy;
}

function isRead(event: object): boolean {
  try {
    historyJson().read({ events: [event] });
    return true;
  } catch {
    return false;
  }
}

test('Every event that a server has written is taken by its form, and its type is known.', () => {
  expect(events.length).toBeGreaterThan(100);
  expect(events.filter((event) => !historyJson().fits(event))).toEqual([]);
  expect(events.filter(({ eventType }) => !historyJson().knows(eventType))).toEqual([]);
});

test('What is taken by its form, Temporal’s reader takes, whatever was changed in it.', () => {
  const seen = { taken: 0, refused: 0 };
  const cases = events.flatMap((event) =>
    drawn(pathsIn(event), CHANGES_OF_EVENT, SEED).map((path) => ({ event, path })),
  );
  for (const [index, { event, path }] of cases.entries()) {
    const other = OTHERS[index % OTHERS.length];
    const one = changed(event, path, other);
    const isTaken = historyJson().fits(one);
    const reads = isRead(one);
    if (isTaken && !reads) throw new Error(`${path.join('.')}: ${JSON.stringify(other)}`);
    seen[isTaken ? 'taken' : 'refused'] += 1;
  }
  expect(seen.taken).toBeGreaterThan(0);
  expect(seen.refused).toBeGreaterThan(seen.taken);
});

test.each([
  '',
  'QQ==',
  'QUI=',
  'QUJD',
  'QR==',
  'QUJ=',
  'QQ',
  'QQ=',
  'Q-_A',
  'QQ==QUI=',
  '=',
  '====',
  'Q===',
  'QU C',
])(
  'Bytes written as “%s” are taken by their form where Temporal would write them so, and a history with others is broken.',
  (text) => {
    const history = events.slice(0, 1);
    const place = pathsIn(history[0]).find((path) => path.at(-1) === 'data')!;
    const one = changed(history[0]!, place, text) as HistoryEvent;
    const isWritten = Buffer.from(text, 'base64').toString('base64') === text;
    expect(historyJson().fits(one)).toBe(isWritten);
    const broken = isWritten
      ? undefined
      : `event 1: ${place.join('.').replace(/\.(\d+)/g, '[$1]')} is no base64`;
    expect(brokenHistory([one])).toBe(broken);
  },
);

test.each(['EVENT_TYPE_UNSPECIFIED', 'EVENT_TYPE_OF_ANOTHER_RELEASE', 'toString', ''])(
  'There are no events of the type “%s”.',
  (name) => expect(historyJson().knows(name)).toBe(false),
);
