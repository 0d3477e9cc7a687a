/** The draw of test files that cost much: two runs of one seed play each file once. */
import { drawnFiles } from '../drawn-files.cjs';

const files = (folder: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ path: `/root/test/${folder}/${n}.test.ts` }));
const LONG = files('replay', 16);
const ALL = [...files('core', 300), ...files('browser', 11), ...files('integration', 80), ...LONG];
const rankOf = ({ path }: { readonly path: string }) =>
  path.includes('/replay/') ? LONG.findIndex((long) => long.path === path) : undefined;

const played = (seed: number, way?: string, failed: readonly string[] = []) =>
  drawnFiles(ALL, {
    rootDir: '/root',
    seed,
    way,
    rankOf,
    hasFailed: ({ path }: { path: string }) => failed.includes(path),
  });

beforeEach(() => jest.spyOn(console, 'log').mockImplementation(() => undefined));
afterEach(() => jest.restoreAllMocks());

test.each([1, 2, 4_711])('seed %d: what one run leaves out another one plays', (seed) => {
  const [drawn, leftOut] = [played(seed), played(seed, 'left-out')];
  expect(drawn.length).toBeGreaterThan(306);
  expect(drawn.length).toBeLessThan(314);
  const both = [...drawn, ...leftOut].map(({ path }) => path).toSorted();
  expect(both).toEqual(ALL.map(({ path }) => path).toSorted());
  expect(played(seed)).toEqual(drawn);
});

test('more of what is left out can be played by itself, and over a few seeds it is all of it', () => {
  const [more, leftOut] = [played(7, 'more'), played(7, 'left-out')];
  const starting = more.filter((test) => !LONG.includes(test));
  expect(starting.length).toBeGreaterThan(5);
  expect(starting.length).toBeLessThan(leftOut.length / 6);
  expect(leftOut).toEqual(expect.arrayContaining(more));
  const paths = Array.from({ length: 120 }, (_, n) => n).flatMap((seed) =>
    played(seed, 'more').map(({ path }) => path),
  );
  expect(new Set(paths).size).toBe(91 + LONG.length);
});

test('of the longest files that start no processes, a run plays few and its second one a third', () => {
  const more = LONG.filter((test) => played(9, 'more').includes(test));
  expect(more.length).toBeGreaterThanOrEqual(LONG.length / 9);
  expect(more.length).toBeLessThanOrEqual(LONG.length / 2);
  expect(LONG.some((test) => played(9).includes(test))).toBe(true);
  expect(LONG.every((test) => played(9).includes(test))).toBe(false);
});

test('a fast run plays the cases in the simulation, a sixth of the longest files, and everything else', () => {
  const cases = LONG.slice(0, 2).map(({ path }) => ({
    path: path.replace('/replay/', '/scenarios/'),
  }));
  const all = [...ALL, ...cases];
  const fast = (seed: number) =>
    drawnFiles(all, {
      rootDir: '/root',
      seed,
      way: 'fast',
      rankOf: (test) => (cases.includes(test) ? cases.indexOf(test) : rankOf(test)),
      hasFailed: () => false,
    });
  const played = fast(3);
  expect(played).toEqual(expect.arrayContaining(cases));
  const long = played.filter((test) => LONG.includes(test)).length;
  expect(long).toBeGreaterThanOrEqual(LONG.length / 9);
  expect(long).toBeLessThanOrEqual(LONG.length / 4);
  expect(played.length - long).toBe(all.length - LONG.length);
  const paths = Array.from({ length: 60 }, (_, n) => n).flatMap((seed) => fast(seed));
  expect(new Set(paths).size).toBe(all.length);
});

test('another seed draws other files, and over many seeds each file is drawn', () => {
  expect(played(1)).not.toEqual(played(2));
  const paths = Array.from({ length: 120 }, (_, n) => n).flatMap((seed) =>
    played(seed).map(({ path }) => path),
  );
  expect(new Set(paths).size).toBe(ALL.length);
});

test('a file that failed the last time is played whatever is drawn; so is every file of a command that names some', () => {
  const [first] = played(1, 'left-out');
  expect(played(1, undefined, [first!.path])).toContainEqual(first);
  const few = ALL.slice(-5);
  expect(
    drawnFiles(few, {
      rootDir: '/root',
      seed: 1,
      way: undefined,
      rankOf,
      hasFailed: () => false,
    }),
  ).toEqual(few);
  expect(played(1, 'all')).toEqual(ALL);
  expect(() => played(1, 'some')).toThrow(
    'HOLDFAST_FILES is all, fast, left-out or more, not some.',
  );
});
