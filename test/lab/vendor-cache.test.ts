/** The rules by which the bench of caches counts, one by one. */
import { countedOf } from '../../lab/bench/cache/cache.js';
import { vendorNamed, type Rule } from '../../lab/bench/cache/vendors.js';
import {
  LIFETIME_MS,
  LOOK_BACK,
  markedCache,
  prefixCache,
  type Piece,
} from '../../lab/bench/cache/vendor-cache.js';

/** Of so many tokens. */
const piece = (name: string, tokens = 100, marked = false): Piece => ({
  text: name.padEnd(tokens * 4, '.'),
  marked,
});
const mark = (name: string, tokens = 100): Piece => piece(name, tokens, true);

describe('a cache that ends at marks', () => {
  test('reads the longest beginning that was marked, and writes up to the last mark', () => {
    const cache = markedCache(100);
    expect(cache.take([mark('a'), mark('b'), piece('c')], 0)).toEqual({
      read: 0,
      written: 200,
      uncached: 100,
    });
    const longer = [piece('a'), piece('b'), piece('c'), mark('d'), piece('e')];
    expect(cache.take(longer, 1)).toEqual({ read: 200, written: 200, uncached: 100 });
    // Another beginning is another prefix, whatever follows.
    expect(cache.take([piece('x'), mark('b')], 2)).toEqual({ read: 0, written: 200, uncached: 0 });
  });

  test('keeps nothing below the least length, and nothing without a mark', () => {
    const cache = markedCache(150);
    expect(cache.take([mark('a'), piece('b')], 0)).toEqual({ read: 0, written: 0, uncached: 200 });
    expect(cache.take([mark('a'), piece('b')], 0).read).toBe(0);
    expect(cache.take([mark('a'), mark('b')], 0)).toEqual({ read: 0, written: 200, uncached: 0 });
    expect(cache.take([piece('a'), mark('b')], 0).read).toBe(200);
  });

  test('looks at twenty places for each mark, and no further', () => {
    const after = (count: number): readonly Piece[] => [
      piece('a'),
      ...Array.from({ length: count - 1 }, (_, index) => piece(`p${index}`)),
      mark('z'),
    ];
    for (const [count, read] of [
      [LOOK_BACK - 1, 100],
      [LOOK_BACK, 0],
    ] as const) {
      const cache = markedCache(1);
      cache.take([mark('a')], 0);
      expect(cache.take(after(count), 0).read).toBe(read);
    }
    // An older mark finds it.
    const cache = markedCache(1);
    cache.take([mark('a')], 0);
    expect(cache.take([mark('a'), ...after(40).slice(1)], 0).read).toBe(100);
  });

  test('forgets after five minutes in which nobody read it', () => {
    const cache = markedCache(1);
    cache.take([mark('a')], 0);
    expect(cache.take([mark('a')], LIFETIME_MS).read).toBe(100);
    expect(cache.take([mark('a')], 2 * LIFETIME_MS).read).toBe(100);
    expect(cache.take([mark('a')], 3 * LIFETIME_MS + 1).read).toBe(0);
  });

  test('refuses a fifth mark', () => {
    const five = ['a', 'b', 'c', 'd', 'e'].map((name) => mark(name));
    expect(() => markedCache(1).take(five, 0)).toThrow('4 are the most');
  });

  test('counts parameters for what follows, and not as input', () => {
    const silent = (text: string): Piece => ({ text, marked: false, silent: true });
    const cache = markedCache(1);
    cache.take([mark('a'), silent('auto'), mark('b')], 0);
    expect(cache.take([mark('a'), silent('none'), mark('b')], 0)).toEqual({
      read: 100,
      written: 100,
      uncached: 0,
    });
  });
});

describe('a cache of all beginnings', () => {
  const rule = { tokensMin: 1_024, step: 128 };

  test('reads from a least length on, by whole steps', () => {
    const cache = prefixCache(rule);
    cache.take([piece('a', 1_000), piece('b', 300)], 0);
    // 1,300 tokens are there: ten steps of 128.
    expect(cache.take([piece('a', 1_000), piece('b', 300), piece('c', 200)], 0)).toEqual({
      read: 1_280,
      written: 0,
      uncached: 220,
    });
    expect(prefixCache(rule).take([piece('a', 1_000)], 0).read).toBe(0);
  });

  test('reads nothing of a short one, and no further than the first other byte', () => {
    const cache = prefixCache(rule);
    cache.take([piece('a', 1_000)], 0);
    expect(cache.take([piece('a', 1_000)], 0).read).toBe(0);
    cache.take([piece('a', 2_000), piece('b', 500)], 0);
    expect(cache.take([piece('a', 2_000), piece('x', 500)], 0).read).toBe(15 * 128);
  });

  test('reads nothing of what another key was sent with, which is no input', () => {
    const cache = prefixCache(rule);
    const keyed = (key: string): readonly Piece[] => [
      { text: key, marked: false, silent: true },
      piece('a', 2_000),
    ];
    cache.take(keyed('run'), 0);
    expect(cache.take(keyed('fork'), 0)).toEqual({ read: 0, written: 0, uncached: 2_000 });
    expect(cache.take(keyed('run'), 0)).toEqual({ read: 15 * 128, written: 0, uncached: 80 });
  });

  test('forgets after five minutes', () => {
    const cache = prefixCache(rule);
    cache.take([piece('a', 2_000)], 0);
    expect(cache.take([piece('a', 2_000)], LIFETIME_MS + 1).read).toBe(0);
  });
});

describe('a conversation', () => {
  const rule: Rule = { name: 'all', tokensMin: 1, open: () => markedCache(1) };
  const requests = [[mark('a')], [mark('a'), mark('b')], [mark('a'), mark('b'), mark('c')]];

  test('counts all of its requests', () => {
    expect(countedOf({ rule, requests, gapMs: 1 })).toEqual({
      requests: 3,
      read: 300,
      written: 300,
      uncached: 0,
      possible: 300,
      allowed: 300,
    });
  });

  test('counts those of a fork alone, on the cache that the others left', () => {
    expect(countedOf({ rule, requests, gapMs: 1, from: 2 })).toEqual({
      requests: 1,
      read: 200,
      written: 100,
      uncached: 0,
      possible: 200,
      allowed: 200,
    });
  });
});

test.each(['openai', 'openai-responses'])('the key of a request to %s is no input', (vendor) => {
  const body = JSON.stringify({ messages: [], input: [], prompt_cache_key: 'run' });
  expect(vendorNamed(vendor).pieces(body)).toEqual([{ text: 'run', marked: false, silent: true }]);
});
