import type { Json } from '../../../core/json/json.js';
import { readFlow } from '../../../core/dataflow/flow.js';
import {
  holdsIn,
  referencesIn,
  resolveReferences,
  valueAt,
  valueOf,
} from '../../../core/dataflow/references.js';
import { overlaps, parsePath } from '../../../core/dataflow/state-path.js';

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

  test('brings the value with its type: what is no text is never taken for one', () => {
    expect(valueOf('7', { json: true })).toBe(7);
    expect(valueOf('7', {})).toBe('7');
    expect(valueOf('null', { json: true })).toBeNull();
    expect(valueOf('"quoted"', {})).toBe('"quoted"');
    expect(valueOf('[cut off', { json: true })).toBe('[cut off');
    expect(resolveReferences({ a: '†state.n', b: 'x' }, { n: null })).toEqual({ a: null, b: 'x' });
  });

  test('reaches into what is written, and into a text that is JSON', () => {
    const values = { n: 7, s: 'seven', o: { n: 1, toString: 2 }, t: '{"id":"A"}', l: [1] };
    expect(valueAt(values, 'o')).toEqual({ n: 1, toString: 2 });
    expect(valueAt(values, 'o.n')).toBe(1);
    expect(valueAt(values, 't.id')).toBe('A');
    expect(valueAt(values, 't')).toBe('{"id":"A"}');
    for (const path of ['o.valueOf', 'o.n.deeper', 's.length', 'l.length', 'gone']) {
      expect(valueAt(values, path)).toBeUndefined();
    }
  });

  test('takes a result that is nested without end for a text', () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    expect(valueOf(deep, { json: true })).toBe(deep);
  });
});

test.each<[object, boolean]>([
  [{ path: 'n' }, true],
  [{ path: 'n', exists: false }, false],
  [{ path: 'gone' }, false],
  [{ path: 'gone', exists: false }, true],
  [{ path: 'gone', equals: null }, false],
  [{ path: 'n', equals: 7 }, true],
  [{ path: 'n', equals: '7' }, false],
  [{ path: 'n', equals: 8 }, false],
  [{ path: 'n', gte: 7, lte: 7 }, true],
  [{ path: 's', gte: 1 }, false],
])('the condition %j holds: %s', (condition, expected) => {
  expect(holdsIn({ n: 7, s: 'seven' }, { path: '', ...condition })).toBe(expected);
});
