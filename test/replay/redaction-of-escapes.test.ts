/** A hidden text is found however JSON escapes it and however deep, and what is written stays JSON. */
import { LAYERS_MAX } from '../../replay/redaction/escapes.js';
import { leakFinder } from '../../replay/redaction/leaks.js';
import { refuseUnmet } from '../../replay/redaction/redact-bundle.js';
import { replacerOf } from '../../replay/redaction/replacer.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { hiddenTexts } from '../../replay/redaction/select.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

const SALT = 'salt';
const ROUNDS = WHOLE ? 5_000 : 500;

const hiding = (...texts: readonly string[]) =>
  new Map(texts.map((text, index) => [text, `rule-${index + 1}`]));

function hide(text: string, ...texts: readonly string[]) {
  const hidden = hiding(...texts);
  const replacer = replacerOf(hidden, SALT);
  const replacement = replacer.replace(text);
  return { ...replacement, left: leakFinder(hidden, replacer)(replacement.text), replacer };
}

/** As PHP, Python and Go write it. */
const php = (value: unknown): string => JSON.stringify(value).replaceAll('/', '\\/');
const python = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${hex(unit)}`);
const go = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[<>&]/g, (unit) => `\\u${hex(unit)}`);
const hex = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, '0');

const NOTE = 'he said "hello7788" twice';
const ADDRESS = 'https://x.example/u/tom77';
const PASSWORD = 'pw/"ä"-Secret77';

/** The value at the end of JSON within JSON. */
function innermost(text: string): unknown {
  let value: unknown = text;
  for (;;) {
    if (typeof value === 'object' && value !== null) value = Object.values(value)[0];
    if (typeof value !== 'string' || !/^[{"]/.test(value)) return value;
    value = JSON.parse(value);
  }
}

describe('a text that JSON escapes', () => {
  test.each([
    ['slashes as PHP writes them', ADDRESS, php({ url: ADDRESS })],
    ['slashes in JSON within JSON', ADDRESS, php({ php: php({ url: ADDRESS }) })],
    ['quotes three levels deep', NOTE, python({ a: python({ b: python({ note: NOTE }) }) })],
    ['a letter beyond ASCII, twice', 'Zürich 7788', python({ a: python({ b: 'Zürich 7788' }) })],
    ['a letter in upper case', PASSWORD, '{"p":"pw/\\"\\u00E4\\"-Secret77"}'],
    ['angles as Go writes them', 'Tom <tom@x.example>', go({ a: 'Tom <tom@x.example>' })],
    [
      'a picture of two units',
      'party 🎉🎉 of tom',
      python({ a: python({ b: 'party 🎉🎉 of tom' }) }),
    ],
    ['a text that is a text again', NOTE, JSON.stringify(JSON.stringify({ note: NOTE }))],
    [
      'an escaped backslash',
      '{"a":"\\u005cu0041lice 7788"}',
      '{"a":"{\\"a\\":\\"\\\\u005cu0041lice 7788\\"}"}',
    ],
  ])('is hidden with %s: the JSON has the marker', (_, secret, text) => {
    const { text: written, hidden, left, replacer } = hide(text, secret);
    expect(hidden).toEqual([secret]);
    expect(left).toBeUndefined();
    expect(written).toHaveLength(text.length);
    expect(Buffer.byteLength(written)).toBe(Buffer.byteLength(text));
    if (secret.startsWith('{')) JSON.parse(written);
    else expect(innermost(written)).toBe(replacer.markerOf(secret));
  });

  test('is hidden in words around it, and where it was cut off', () => {
    const said = `The tool said: ${php({ url: `${ADDRESS}/long` })}`;
    const cut = said.slice(0, said.indexOf('tom77') + 3);
    for (const text of [said, cut]) {
      const { text: written, left } = hide(text, `${ADDRESS}/long`);
      expect(written).not.toContain('tom');
      expect(left).toBeUndefined();
    }
  });

  test('is hidden whole where another one stands in it, or begins in it and goes on behind it', () => {
    const inside = hide(python({ note: NOTE }), 'hello7788', NOTE);
    expect(innermost(inside.text)).toBe(inside.replacer.markerOf(NOTE));
    expect(new Set(inside.whole)).toEqual(new Set(['hello7788', NOTE]));
    const beside = hide('x Tom Quitzow, Rome 17 x', 'Tom Quitzow', 'Quitzow, Rome 17');
    expect(beside.text).toMatch(/^x .* x$/);
    expect(beside.text).not.toMatch(/Tom|Quitzow|Rome|17 x/);
    const longer = hide(
      'Petra Quitzow-X1, Berlin 5',
      'Petra Quitzow-X1',
      'Petra Quitzow-X1, Berlin 5',
    );
    expect(longer.text).not.toContain('Berlin');
  });

  test('does not begin with the letter of an escape: JSON stays JSON', () => {
    const [name, digits] = ['nancy of Rome, 77 years', '1e4bcdef of Rome, 77 years'];
    const text = JSON.stringify({
      a: `\n${name.slice(1)}`,
      b: name,
      c: `\u0001${digits.slice(1)}`,
    });
    const { text: written } = hide(text, name, digits);
    expect(Object.keys(JSON.parse(written) as object)).toEqual(['a', 'b', 'c']);
    expect(written).not.toMatch(/ancy|Rome|77/);
  });
});

test('However a text is escaped, nothing of it is left and its place has the marker.', () => {
  saySeed(`${ROUNDS} random escapings`);
  let state = SEED >>> 0;
  const below = (end: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  const unitEscaped = (unit: string): string => {
    const digits = hex(unit);
    const plain = JSON.stringify(unit).slice(1, -1);
    const forms = [plain, plain, `\\u${digits}`, `\\u${digits.toUpperCase()}`];
    return unit === '/' ? '\\/' : forms[below(forms.length)]!;
  };
  const randomly = (name: string, value: string): string =>
    `{"${name}":"${value.split('').map(unitEscaped).join('')}"}`;
  const letters = 'abcXYZ0189/"\\\n\tä€🎉<&% ';
  for (let round = 0; round < ROUNDS; round += 1) {
    const chosen = Array.from({ length: 3 + below(30) }, () => Array.from(letters)[below(22)]!);
    const secret = `Q7${chosen.join('')}z`;
    const levels = 1 + below(3);
    let text = secret;
    for (let level = 0; level < levels; level += 1) text = randomly('a', text);
    const { text: written, left, replacer } = hide(text, secret);
    let value: unknown = written;
    for (let level = 0; level < levels; level += 1) {
      value = (JSON.parse(value as string) as { readonly a: unknown }).a;
    }
    expect({ value, left }).toEqual({ value: replacer.markerOf(secret), left: undefined });
    expect(written).toHaveLength(text.length);
  }
});

describe('what the rules look into', () => {
  const found = async (value: string, ...list: readonly object[]) => {
    const document = { value, source: 'event 1', path: '', schemas: new Set<never>() };
    const rules = parseRules({ rules: list }, 'rules.json');
    return [...(await hiddenTexts([document], rules)).hidden.keys()];
  };

  test('are JSON texts in JSON texts, and texts that are JSON again', async () => {
    const text = python({ a: python({ b: JSON.stringify(python({ note: NOTE })) }) });
    expect(await found(text, { name: 'note', key: 'note' })).toEqual([NOTE]);
  });

  test('are escaped texts within words, for patterns', async () => {
    const rule = { name: 'url', regex: 'https://x.example/u/[a-z0-9]+' };
    expect(await found(`It said ${php({ url: ADDRESS })}`, rule)).toEqual([ADDRESS]);
  });
});

describe('what is left of a hidden text', () => {
  const SECRET = 'tom77@x.example/Zürich';
  const left = (text: string, secret = SECRET) => {
    const hidden = hiding(secret);
    return leakFinder(hidden, replacerOf(hidden, SALT))(text);
  };
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  test.each([
    ['as it is', SECRET],
    ['escaped as JSON', python({ a: python({ b: SECRET }) })],
    ['base64', `Basic ${base64(SECRET)}`],
    ['base64', base64(`a${SECRET}`)],
    ['base64', base64(`ab${SECRET} and more`)],
    ['base64', Buffer.from(`?>?>${SECRET}`).toString('base64url')],
    ['base64', php({ a: base64(`??>>${SECRET}`) })],
    ['base64', base64(python({ a: SECRET }))],
    ['base64', base64(`${'x'.repeat(50)}${SECRET}`).replaceAll(/.{76}/g, '$&\r\n')],
    ['hex', `0x${Buffer.from(SECRET).toString('hex')}`],
    ['hex', Buffer.from(`abc${SECRET}`).toString('hex').toUpperCase().slice(1)],
    ['percent-encoded', `/find?q=${encodeURIComponent(SECRET)}`],
    ['percent-encoded', `/find?q=${encodeURIComponent(encodeURIComponent(SECRET))}`],
    ['as XML or HTML', '<a>tom77@x.example&#x2f;Z&#252;rich</a>'],
  ])('is told with its rule and its form: %s', (form, text) => {
    expect(left(text)).toEqual({ rule: 'rule-1', form });
    expect(left(text, 'somebody.else@x.example')).toBeUndefined();
  });

  test('is told of words with spaces in an address, and of quotes in XML', () => {
    const words = 'Tom of 77 Rome';
    expect(left(new URLSearchParams({ q: words }).toString(), words)?.form).toBe(
      'as in an address',
    );
    expect(left('a="he said &quot;hello7788&quot; twice"', NOTE)?.form).toBe('as XML or HTML');
  });

  test('is told of a piece of a long text', () => {
    const long = Array.from({ length: 20 }, (_, index) => `line ${index} of the letter`).join('\n');
    expect(left(base64(long.slice(100, 180)), long)?.form).toBe('base64');
    expect(left(python({ a: long.slice(100, 180) }), long)?.form).toBe('escaped as JSON');
  });

  test('is no chance: a short text, and what a marker keeps, are not looked for in other forms', () => {
    expect(left(base64('abcd'), 'abcd')).toBeUndefined();
    expect(left('/'.repeat(80), `${'/'.repeat(48)} Rome`)).toBeUndefined();
  });

  test('cannot be told in a text that is escaped without end, which is refused', () => {
    expect(left(`\\${'u005c'.repeat(LAYERS_MAX + 2)}n`)?.form).toBe('escaped too often');
  });
});

test('A rule whose text is nowhere to be replaced is refused by its name; one within another hidden text is not.', () => {
  const hidden = hiding(NOTE, 'hello7788');
  expect(() => refuseUnmet(hidden, new Set([NOTE]))).not.toThrow();
  expect(() => refuseUnmet(hidden, new Set(['hello7788']))).toThrow(
    expect.objectContaining({
      code: 'RedactionRefused',
      message: expect.stringMatching(/^Rule rule-1 (?!.*hello7788)/),
    }),
  );
});
