/** JSON from inside and outside, at its exact limits. */
import { depthOf, SHAPE_DEPTH_MAX } from '../../../core/json/json-depth.js';
import {
  fitsBytes,
  isBlank,
  isBlobRef,
  surelyFits,
  textFitsBytes,
} from '../../../core/json/json.js';
import fc from 'fast-check';
import { isCount } from '../../../core/json/count.js';
import { isPositiveUpTo, isSmallJson, isText, isWellFormed } from '../../../core/json/shape.js';
import { provenBy } from '../../../core/gates/evidence.js';
import { referencesIn, valueAt } from '../../../core/dataflow/references.js';
import { readFlow } from '../../../core/dataflow/flow.js';

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
const of = (length: number) => 'x'.repeat(length);

test('bytes are counted as UTF-8, and fit when there are exactly so many', () => {
  for (const text of [of(10), 'é'.repeat(10), '€'.repeat(10), `${of(8)}€`]) {
    const bytes = Buffer.byteLength(JSON.stringify(text));
    expect([text, fitsBytes(text, bytes), fitsBytes(text, bytes - 1)]).toEqual([text, true, false]);
    expect([text, textFitsBytes(text, bytes - 2), textFitsBytes(text, bytes - 3)]).toEqual([
      text,
      true,
      false,
    ]);
  }
});

test('a value surely fits only where its JSON does, at worst six bytes for each letter', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(400), (value, bytesMax) => {
      if (surelyFits(value, bytesMax)) expect(fitsBytes(value, bytesMax)).toBe(true);
    }),
  );
  const worst = { ['\u0000']: ['\u0001\ud800', -Number.EPSILON / 3, true, null] };
  const bytes = Buffer.byteLength(JSON.stringify(worst));
  const surely = Array.from({ length: 400 }, (_, bytesMax) => surelyFits(worst, bytesMax));
  expect(surely.indexOf(true)).toBeGreaterThanOrEqual(bytes);
  expect(surely.indexOf(true)).toBeLessThan(bytes * 3);
});

test.each<[unknown, boolean]>([
  [{ $blob: 'a', bytes: 1 }, true],
  [{ $blob: 'a' }, false],
  [{ bytes: 1 }, false],
  [{ $blob: 1, bytes: 1 }, false],
  [{ $blob: 'a', bytes: '1' }, false],
  [null, false],
  ['a', false],
])('%j is a reference to a text in the store: %s', (value, is) => {
  expect(isBlobRef(value)).toBe(is);
});

test('only a text without a word is blank', () => {
  expect([undefined, { text: ' \n' }, { text: 'a' }].map(isBlank)).toEqual([true, true, false]);
  expect(isBlank({ $blob: 'a', bytes: 1, preview: ' ' })).toBe(false);
});

test.each<[unknown, boolean]>([
  [0, true],
  [5, true],
  [Number.MAX_SAFE_INTEGER, true],
  [2 ** 53, false],
  [-1, false],
  [1.5, false],
  ['1', false],
  [NaN, false],
])('%j is a count: %s', (value, is) => {
  expect(isCount(value)).toBe(is);
});

test('shapes take what is exactly as large as it may be', () => {
  expect([
    isPositiveUpTo(0, 3),
    isPositiveUpTo(1, 3),
    isPositiveUpTo(3, 3),
    isPositiveUpTo(4, 3),
  ]).toEqual([false, true, true, false]);
  expect([isPositiveUpTo('1', 3), isPositiveUpTo(1.5, 3)]).toEqual([false, false]);
  expect([isText('abc', 3), isText('abcd', 3), isText(' ', 3), isText(1, 3)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect([isSmallJson(of(8), 10), isSmallJson(of(9), 10), isSmallJson(undefined, 10)]).toEqual([
    true,
    false,
    false,
  ]);
  expect([
    isSmallJson(nested(SHAPE_DEPTH_MAX), 999),
    isSmallJson(nested(SHAPE_DEPTH_MAX + 1), 999),
  ]).toEqual([true, false]);
});

test('depth counts to just above its limit', () => {
  expect([0, 1, 5, SHAPE_DEPTH_MAX].map((depth) => depthOf(nested(depth)))).toEqual([
    0,
    1,
    5,
    SHAPE_DEPTH_MAX,
  ]);
  expect(depthOf(nested(SHAPE_DEPTH_MAX + 9))).toBe(SHAPE_DEPTH_MAX + 1);
  expect(depthOf({ a: { b: 1 }, c: 2 })).toBe(2);
});

test('texts are well-formed in values and in names', () => {
  const half = String.fromCharCode(0xdc00);
  const good = ['', '\u{1F600}', { a: ['b', null, 1] }, null, 1, true];
  const bad = [half, `a${half}`, { [half]: 1 }, { a: [half] }, [{ b: { c: half } }]];
  expect(good.map(isWellFormed)).toEqual(good.map(() => true));
  expect(bad.map(isWellFormed)).toEqual(bad.map(() => false));
});

describe('what a path of the dataflow names', () => {
  const deep = (depth: number) => `{"at":${JSON.stringify(nested(depth - 1))}}`;

  test('is found in a text that is JSON, if that nests no deeper than may be', () => {
    const at = (text: string) => valueAt({ 'state.order': text }, 'state.order.at');
    expect(at(deep(SHAPE_DEPTH_MAX))).toEqual(nested(SHAPE_DEPTH_MAX - 1));
    expect(at(deep(SHAPE_DEPTH_MAX + 1))).toBeUndefined();
    expect(at('no JSON')).toBeUndefined();
    expect(valueAt({ 'state.order': 'no JSON' }, 'state.order')).toBe('no JSON');
    expect(valueAt({ 'state.order': [1] }, 'state.order.0')).toBeUndefined();
    expect(valueAt({ 'state.order': null }, 'state.order.at')).toBeUndefined();
    expect(valueAt({}, 'state.order')).toBeUndefined();
  });

  test('proves nothing beyond that depth', () => {
    const proofs = [{ id: 'p', when: { path: 'at', exists: true } }];
    expect(provenBy(proofs, deep(SHAPE_DEPTH_MAX))).toEqual(['p']);
    expect(provenBy(proofs, deep(SHAPE_DEPTH_MAX + 1))).toEqual([]);
    expect(provenBy(proofs, 'no JSON')).toEqual([]);
    expect(provenBy([], '{')).toEqual([]);
  });

  test('is one of at most 32', () => {
    const args = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ $from: `state.p${index}` }));
    expect(referencesIn(args(32))).toMatchObject({ ok: true });
    expect(referencesIn(args(33))).toMatchObject({ ok: false });
    // A path that is named twice is one.
    expect(referencesIn([...args(32), ...args(32)])).toMatchObject({ ok: true });
  });
});

describe('what a call says about other calls', () => {
  const ok = (flow: object): boolean => readFlow(flow as Parameters<typeof readFlow>[0]).ok;
  const flowOf = (args: object) => {
    const read = readFlow(args as Parameters<typeof readFlow>[0]);
    return read.ok ? read.flow : undefined;
  };
  test('is taken off its arguments', () => {
    expect(flowOf({ a: 1 })).toBeUndefined();
    expect(flowOf({ _dependsOn: ['a'] })).toMatchObject({ dependsOn: ['a'], refs: [] });
    expect(flowOf({ a: { $from: 'state.x' } })).toMatchObject({ refs: ['x'] });
    expect(flowOf({ _outputPath: 'state.x' })).toMatchObject({ outputPath: 'x' });
  });

  test.each<[string, object, boolean]>([
    ['ids as long as may be', { _dependsOn: [of(128)] }, true],
    ['a longer id', { _dependsOn: [of(129)] }, false],
    ['as many ids as may be', { _dependsOn: Array.from({ length: 48 }, () => 'a') }, true],
    ['more ids', { _dependsOn: Array.from({ length: 49 }, () => 'a') }, false],
    ['equality with as much as may be', { _when: { path: 'state.x', equals: of(998) } }, true],
    ['equality with more', { _when: { path: 'state.x', equals: of(999) } }, false],
    ['an output path below previous', { _outputPath: 'previous.x' }, false],
    ['a reference to no path', { a: { $from: 'state.' } }, false],
    ['a condition on equality', { _when: { path: 'state.x', equals: 1 } }, true],
    ['a condition on nothing', { _when: { path: 'state.x' } }, true],
    ['a condition without a path', { _when: { equals: 1 } }, false],
    ['a condition with other fields', { _when: { path: 'state.x', not: 1 } }, false],
    ['a condition that exists in words', { _when: { path: 'state.x', exists: 'yes' } }, false],
    ['a condition that is absent', { _when: { path: 'state.x', exists: false } }, true],
    ['a limit in words', { _when: { path: 'state.x', lte: '1' } }, false],
    ['a limit', { _when: { path: 'state.x', lte: 1, gte: 0 } }, true],
    ['another limit in words', { _when: { path: 'state.x', gte: '1' } }, false],
    ['a dependency that is no text', { _dependsOn: [1] }, false],
    ['dependencies that are no list', { _dependsOn: 'a' }, false],
    ['an output path that is no path', { _outputPath: 1 }, false],
  ])('%s: %j is read: %s', (_what, flow, is) => {
    expect(ok(flow)).toBe(is);
  });
});
