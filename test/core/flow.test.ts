import type { Json } from '../../core/json.js';
import { readFlow } from '../../core/call/flow.js';
import { holds, readingsOf, referencesIn, resolutions } from '../../core/call/references.js';
import { overlaps, parsePath } from '../../core/call/state-path.js';

describe('a path of the state', () => {
  test.each([
    ['state.a', 'a'],
    ['state.a.b-c._d', 'a.b-c._d'],
    ['a', undefined],
    ['state.', undefined],
    ['state.a..b', undefined],
    ['state.1a', undefined],
    ['state.list.0', undefined],
    ['state.a.__proto__', undefined],
    ['state.constructor', undefined],
    ['state.a.prototype.b', undefined],
    [`state.${'x'.repeat(200)}`, undefined],
  ])('%s', (text, path) => {
    expect(parsePath(text)).toBe(path);
  });

  test('conflicts with itself and with what lies above or below it', () => {
    expect([overlaps('a', 'a'), overlaps('a', 'a.b'), overlaps('a.b', 'a')]).toEqual([
      true,
      true,
      true,
    ]);
    expect([overlaps('a', 'ab'), overlaps('a.b', 'a.c')]).toEqual([false, false]);
  });
});

describe('what a call says about others', () => {
  test('is every argument whose name begins with an underscore', () => {
    const args = { a: 1, _outputPath: 'state.x', _when: { path: 'y' }, _other: 2 };
    expect(readFlow(args)).toEqual({
      ok: true,
      args: { a: 1 },
      flow: { outputPath: 'x', when: { path: 'y' }, refs: [] },
    });
  });

  test('is nothing for most calls', () => {
    expect(readFlow({ a: 1 })).toEqual({ ok: true, args: { a: 1 } });
    expect(readFlow([1])).toEqual({ ok: true, args: [1] });
  });

  test.each<[string, Json]>([
    ['a path that is a number', { _outputPath: 1 }],
    ['a list of no ids', { _dependsOn: [1] }],
    ['too many ids', { _dependsOn: Array<string>(49).fill('a') }],
    ['a condition that is a text', { _when: 'state.a' }],
    ['a condition without a path', { _when: { exists: true } }],
    ['a comparison with a text', { _when: { path: 'a', lte: '1' } }],
    ['a comparison with too much', { _when: { path: 'a', equals: 'x'.repeat(2_000) } }],
    ['a reference that is no text', { a: { $from: 1 } }],
    [
      'too many references',
      Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, `†state.p${i}`])),
    ],
  ])('cannot be %s', (_what, args) => {
    expect(readFlow(args).ok).toBe(false);
  });
});

describe('a reference', () => {
  test('is found at any depth, each path once', () => {
    const args = { a: [{ $from: 'state.x' }], b: { c: '†state.y', d: { $from: 'state.x' } } };
    expect(referencesIn(args)).toEqual({ ok: true, paths: ['x', 'y'] });
  });

  test('is nothing but that: a text with more in it, an object with more in it', () => {
    const args = { a: 'see †state.x', b: { $from: 'state.x', more: 1 }, c: '† note' };
    expect(referencesIn(args)).toEqual({ ok: true, paths: [] });
  });

  test('reads a result as JSON first, then as the text that it is', () => {
    const texts = { n: '7', s: 'seven', q: '"quoted"', o: '{"n":1,"toString":2}' };
    expect(readingsOf(texts, 'n')).toEqual([7, '7']);
    expect(readingsOf(texts, 's')).toEqual(['seven']);
    expect(readingsOf(texts, 'q')).toEqual(['"quoted"']);
    expect(readingsOf(texts, 'o.n')).toEqual([1]);
    expect(readingsOf(texts, 'o.valueOf')).toEqual([]);
    expect(readingsOf(texts, 'o.n.deeper')).toEqual([]);
    expect(readingsOf(texts, 'gone')).toEqual([]);
  });

  test('a result nested without end is a text', () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    expect(readingsOf({ d: deep }, 'd')).toEqual([deep]);
  });

  test('every reading is offered once, and their number is limited', () => {
    const args = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`k${i}`, `†state.p${i}`]));
    const texts = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`p${i}`, '1']));
    const all = [...resolutions(args, texts)].map((one) => JSON.stringify(one));
    expect(all).toHaveLength(16);
    expect(new Set(all).size).toBe(16);
  });
});

test.each<[object, boolean]>([
  [{ path: 'n' }, true],
  [{ path: 'n', exists: false }, false],
  [{ path: 'gone' }, false],
  [{ path: 'gone', exists: false }, true],
  [{ path: 'gone', equals: null }, false],
  [{ path: 'n', equals: 7 }, true],
  [{ path: 'n', equals: '7' }, true],
  [{ path: 'n', equals: 8 }, false],
  [{ path: 'n', gte: 7, lte: 7 }, true],
  [{ path: 's', gte: 1 }, false],
])('the condition %j holds: %s', (condition, expected) => {
  expect(holds({ path: '', ...condition }, { n: '7', s: 'seven' })).toBe(expected);
});
