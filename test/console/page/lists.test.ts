/** The lists of questions and of runs: pages of the server's, put together. */
import type { Ask, Run } from '../../../console/page/data/api-types.js';
import { NO_ASKS, withPage } from '../../../console/page/inbox/known-asks.js';
import { CONDITIONS, parametersOf, SORTS } from '../../../console/page/runs/conditions.js';
import {
  isFiltered,
  microUsdFrom,
  NO_FILTERS,
  NO_RUNS,
  withPage as withRuns,
} from '../../../console/page/runs/known-runs.js';
import { searchShape } from '../../../console/routes/search.js';
import { SORTS as SERVER_SORTS } from '../../../client/read/find-runs.js';

const ask = (openedAt: number, expiresAt = 0) =>
  ({ askId: `a${openedAt}`, openedAt, expiresAt }) as Ask;
const page = (items: readonly Ask[], next?: string) => ({
  items: [...items],
  total: 9,
  ...(next !== undefined && { next }),
});
const ids = (asks: readonly Ask[]): readonly string[] => asks.map(({ askId }) => askId);

test('a first page takes away what it covers and does not have; further rows stay', () => {
  const begun = withPage(NO_ASKS, page([ask(1), ask(2)], 'two'), true);
  const both = withPage(begun, page([ask(3), ask(4)], 'four'), false);
  expect([ids(both.asks), both.next]).toEqual([['a1', 'a2', 'a3', 'a4'], 'four']);
  const again = withPage(both, page([ask(2), ask(3)], 'three'), true);
  expect([ids(again.asks), again.next]).toEqual([['a2', 'a3', 'a4'], 'four']);
  const last = withPage(again, page([ask(2)]), true);
  expect([ids(last.asks), last.next]).toEqual([['a2'], undefined]);
});

test('a row that is there keeps its place and is as fresh as the page', () => {
  const begun = withPage(NO_ASKS, page([ask(1), ask(2)]), true);
  const { asks } = withPage(begun, page([ask(2, 7), ask(1, 8), ask(3)]), true);
  expect(asks.map(({ askId, expiresAt }) => [askId, expiresAt])).toEqual([
    ['a1', 8],
    ['a2', 7],
    ['a3', 0],
  ]);
});

test('runs are newest first, and the newest page tells where older ones begin while it is the only one', () => {
  const run = (startedAt: number) => ({ runId: `r${startedAt}`, startedAt }) as Run;
  const many = Array.from({ length: 50 }, (_, place) => run(place + 10));
  const first = withRuns(NO_RUNS, { items: many, next: 'older' }, true);
  const older = withRuns(first, { items: [run(1)] }, false);
  expect([older.runs.length, older.runs.at(-1)?.runId, older.next]).toEqual([51, 'r1', undefined]);
  const again = withRuns(older, { items: [run(99)], next: 'older' }, true);
  expect([again.runs[0]?.runId, again.runs[1]?.runId, again.next]).toEqual([
    'r99',
    'r59',
    undefined,
  ]);
});

test('runs that no longer fit the filters leave with the newest page that covers them', () => {
  const run = (startedAt: number, runId = `r${startedAt}`) => ({ runId, startedAt }) as Run;
  const ids = ({ runs }: typeof NO_RUNS) => runs.map(({ runId }) => runId);
  const first = withRuns(NO_RUNS, { items: [run(5), run(4), run(3)], next: 'older' }, true);
  const both = withRuns(first, { items: [run(3, 'twin'), run(2), run(1)] }, false);
  const again = withRuns(both, { items: [run(5), run(3)], next: 'older' }, true);
  expect(ids(again)).toEqual(['r5', 'r3', 'twin', 'r2', 'r1']);
  const whole = withRuns(again, { items: [run(5)] }, true);
  expect([ids(whole), whole.next]).toEqual([['r5'], undefined]);
});

test('a cost is written in dollars, with either sign between them and their cents', () => {
  const cost = (costFrom: string) => microUsdFrom({ ...NO_FILTERS, costFrom });
  expect(['0.01', '1,5', ' 2 ', '', '-1', 'much'].map(cost)).toEqual([
    10_000, 1_500_000, 2_000_000, 0, 0, 0,
  ]);
});

test('further conditions reach the server in its own units; what nobody could mean is left out', () => {
  const given = parametersOf({
    stopReason: ' max_cost ',
    tool: '',
    turnsFrom: 'many',
    turnsTo: '7',
    activeFrom: '1,5',
    waitingTo: '-1',
    since: '2026-12-01',
    until: '2026-12-01',
    goal: 'order 7',
  });
  expect(Object.fromEntries(given)).toEqual({
    stopReason: 'max_cost',
    turnsTo: '7',
    activeFrom: '90000',
    goal: 'order 7',
    since: expect.any(String),
    until: expect.any(String),
  });
  expect(Number(given.get('until')) - Number(given.get('since'))).toBe(86_400_000 - 1);
  expect(isFiltered({ ...NO_FILTERS, written: { rules: '17' } })).toBe(true);
  expect(isFiltered({ ...NO_FILTERS, written: { rules: 'x' } })).toBe(false);
});

test('each condition of the page is one that the server knows', () => {
  const names = [...Object.keys(CONDITIONS), 'sort'];
  expect(names.filter((name) => !Object.hasOwn(searchShape, name))).toEqual([]);
  expect(Object.keys(SORTS)).toEqual([...SERVER_SORTS]);
});
