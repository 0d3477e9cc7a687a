import { evaluateExpression } from '../../lab/proving/python/arithmetic';
import { dumpCanonical, dumpJson, parseJson } from '../../lab/proving/python/python-json';
import { formatFloat, roundToCents } from '../../lab/proving/python/python-number';
import { repr } from '../../lab/proving/python/python-repr';
import {
  fromJson,
  sameValue,
  type PyObject,
  type PyValue,
} from '../../lab/proving/python/python-value';
import { validated, type Model } from '../../lab/proving/python/validation';
import { sameText } from '../../lab/proving/same-text';

describe('JSON as Python writes it', () => {
  test('int and float stay apart, and keys keep their order', () => {
    const text = '{"10": 30, "9": 30.0, "a": [1e+16, 0.0001, 1e-05, -0.0], "b": {}, "c": []}';
    expect(dumpJson(parseJson(text))).toBe(text);
  });

  test('text outside ASCII is escaped unit by unit', () => {
    expect(dumpJson('é "q" \n\u007f 😀')).toBe('"\\u00e9 \\"q\\" \\n\u007f \\ud83d\\ude00"');
  });

  test('equal values have one canonical text whatever the order of their keys', () => {
    expect(dumpCanonical(parseJson('{"b": 1, "a": [2]}'))).toBe(
      dumpCanonical(parseJson('{"a":[2],"b":1}')),
    );
  });

  test('30 equals 30.0, but not "30"', () => {
    expect(sameValue(fromJson(30), 30)).toBe(true);
    expect(sameValue(fromJson(30), '30')).toBe(false);
  });

  test.each(['', '{', '[1,]', '{"a" 1}', '"open', '01', '1 2', 'nul', '"\\x"'])(
    'malformed text %j is refused',
    (text) => {
      expect(() => parseJson(text)).toThrow('Not JSON');
    },
  );

  test('nesting without end is refused instead of exhausting the stack', () => {
    expect(() => parseJson('['.repeat(100_000))).toThrow('nested deeper');
  });
});

describe('numbers as Python shows them', () => {
  test.each([
    [0.05 - 0, '0.05'],
    [74.11999999999995, '74.11999999999995'],
    [1e16, '1e+16'],
    [123456789012345680, '1.2345678901234568e+17'],
    [9999999999999998, '9999999999999998.0'],
    [0.00001, '1e-05'],
    [-0.000123, '-0.000123'],
    [Infinity, 'inf'],
  ])('%d is %s', (value, text) => {
    expect(formatFloat(value)).toBe(text);
  });

  test('rounding to cents takes the even cent at an exact tie and the nearest otherwise', () => {
    expect([0.125, 0.375, -0.125, 2.675, 1.005].map((value) => roundToCents(value))).toEqual([
      0.12, 0.38, -0.12, 2.67, 1,
    ]);
  });
});

describe('calculate', () => {
  test.each([
    ['466.75+285.66+135.24+46.66+193.38', '1127.69'],
    ['2 + 2', '4.0'],
    ['7 // 2 * -3', '-9.0'],
    ['-7 // 2', '-4.0'],
    ['2 ** 3 ** 2', '512.0'],
    ['-2 ** 2', '-4.0'],
    ['(1 + 2) * (3 - .5) / 4.', '1.88'],
    ['10 / 4', '2.5'],
    ['0. * -1', '-0.0'],
    ['1 // .1', '9.0'],
    ['-1.5 // 1', '-2.0'],
    ['0.29 * 100', '29.0'],
  ])('%s is %s', (expression, value) => {
    expect(evaluateExpression(expression)).toBe(value);
  });

  test.each([
    ['1 / 0', 'division by zero'],
    ['1. / 0', 'float division by zero'],
    ['1 +', 'invalid syntax (<string>, line 1)'],
    ['(1', "'(' was never closed (<string>, line 1)"],
    ['1)', "unmatched ')' (<string>, line 1)"],
    ['9 ** 9 ** 9', 'int too large to convert to float'],
    ['('.repeat(5_000), 'expression too long'],
    ['('.repeat(500), 'too many nested parentheses (<string>, line 1)'],
  ])('%s is refused', (expression, message) => {
    expect(() => evaluateExpression(expression)).toThrow(message);
  });
});

test.each<[PyValue, string]>([
  [null, 'None'],
  [true, 'True'],
  [2n, '2'],
  [2, '2.0'],
  ["it's", `"it's"`],
  [`it's "so"`, `'it\\'s "so"'`],
  ['a\nb\\', "'a\\nb\\\\'"],
  [[1n, 'x', new Map([['k', [false]]])], "[1, 'x', {'k': [False]}]"],
])('%j is shown as Python shows it', (value, shown) => {
  expect(repr(value)).toBe(shown);
});

describe('a record that is checked', () => {
  const model: Model = {
    name: 'Thing',
    fields: [
      ['name', 'text'],
      ['count', 'whole'],
      ['price', 'number'],
      ['parts', { listOf: { name: 'Part', fields: [['id', 'text']] } }],
    ],
  };
  const given = (more: Record<string, PyValue>): PyObject =>
    new Map(Object.entries({ name: 'n', count: 1n, price: 1, parts: [], ...more }));

  test('has its fields in order, turned into their types, and no others', () => {
    const record = new Map<string, PyValue>([
      ['more', 1n],
      [
        'parts',
        [
          new Map<string, PyValue>([
            ['x', 1n],
            ['id', 'p'],
          ]),
        ],
      ],
      ['price', ' 2 '],
      ['count', '3.0'],
      ['name', 'n'],
    ]);
    expect([...validated(model, record)]).toEqual([
      ['name', 'n'],
      ['count', 3n],
      ['price', 2],
      ['parts', [new Map([['id', 'p']])]],
    ]);
  });

  test.each<[Record<string, PyValue>, string]>([
    [{ count: 1.5 }, 'int_from_float'],
    [{ count: 'x' }, 'int_parsing'],
    [{ count: [] }, 'int_type'],
    [{ price: '' }, 'float_parsing'],
    [{ price: null }, 'float_type'],
    [{ name: 1n }, 'string_type'],
    [{ parts: 'x' }, 'list_type'],
    [{ parts: ['x'] }, 'model_type'],
    [{ parts: [new Map()] }, 'missing'],
  ])('with %j is refused as %s', (more, type) => {
    expect(() => validated(model, given(more))).toThrow(`[type=${type}, `);
  });

  test('is shown by its beginning and its end, each fault at its place', () => {
    const parts = ['x'.repeat(60)];
    expect(() => validated(model, given({ count: 'x', parts }))).toThrow(
      /^2 validation errors for Thing\ncount\n.*\n.*\nparts\.0\n.*instance of Part \[type=model_type, input_value='x{24}\.\.\.x{23}', /,
    );
  });
});

test('a complaint is the same whichever version of its library linked its documentation', () => {
  const linked = (version: string) => `x https://errors.pydantic.dev/${version}/v/missing`;
  expect(sameText(linked('2.10'), linked('2.11'))).toBe(true);
  expect(sameText(linked('2.10'), 'y'.concat(linked('2.11')))).toBe(false);
});
