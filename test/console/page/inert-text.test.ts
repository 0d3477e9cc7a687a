/** Texts from outside as the page shows them. */
import fc from 'fast-check';
import {
  beginningOf,
  firstLinesOf,
  inertText,
  mixesAlphabets,
  piecesOf,
} from '../../../console/page/parts/inert-text.js';

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0\u2800]/u;
const anyText = fc.string({ unit: 'binary', maxLength: 400 });

const textsOf = (text: string, isLine: boolean): readonly string[] =>
  piecesOf(text, isLine).filter((piece) => typeof piece === 'string');

test('no character that cannot be seen is left as itself, in any text', () => {
  fc.assert(
    fc.property(anyText, fc.boolean(), (text, isLine) => {
      const left = textsOf(text, isLine)
        .join('')
        .replaceAll(/[\n\t]/g, '');
      expect(UNSEEN.exec(left)).toBeNull();
      expect(UNSEEN.exec(inertText(text))).toBeNull();
    }),
  );
});

test('a character that cannot be seen is shown by its name, or its number', () => {
  expect(piecesOf('a\u202eb\u0001', true)).toEqual([
    'a',
    { kind: 'chip', name: 'RLO', number: 'U+202E' },
    'b',
    { kind: 'chip', name: 'U+0001', number: 'U+0001' },
  ]);
  expect(textsOf('one\ntwo', true)).toEqual(['one', ' ⏎ ', 'two']);
});

test('a text of nothing else becomes no hundred thousand elements, and a long word may be broken', () => {
  const chips = piecesOf('\u200b'.repeat(10_000), false).filter(
    (piece) => typeof piece !== 'string',
  );
  expect(chips).toHaveLength(2_000);
  expect(piecesOf('A'.repeat(250), false)).toEqual([
    'A'.repeat(100),
    { kind: 'break' },
    'A'.repeat(100),
    { kind: 'break' },
    'A'.repeat(50),
  ]);
});

test('what is cut is a beginning, and never ends in half of a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(50), (text, charsMax) => {
      const kept = beginningOf(text, charsMax);
      expect(text.startsWith(kept)).toBe(true);
      expect(kept.length).toBeLessThanOrEqual(charsMax);
      expect(/[\uD800-\uDBFF]$/.test(kept) && !/[\uD800-\uDBFF]$/.test(text)).toBe(false);
    }),
  );
  expect(firstLinesOf('a\nb\nc', 2)).toBe('a\nb');
  expect(firstLinesOf('a\nb', 2)).toBe('a\nb');
});

test('letters of several alphabets in one word are noticed', () => {
  expect(mixesAlphabets('\u0430lice')).toBe(true);
  expect(mixesAlphabets('alice и борис')).toBe(false);
});
