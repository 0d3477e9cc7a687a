/** Characters that nobody sees: everybody who shows or refuses them has the same ones. */
import { cardOf } from '../../authoring/card.js';
import { inert, inertInline } from '../../cli/render/index.js';
import { plainLine } from '../../client/read/plain-line.js';
import { plain } from '../../console/notify/message.js';
import { piecesOf } from '../../console/page/parts/inert-text.js';
import { hasUnseen, withoutUnseen } from '../../pure/unseen.js';

const UNSEEN = [
  ['a zero width space', '\u200b'],
  ['a turn of the direction', '\u202e'],
  ['an escape', '\u001b'],
  ['a separator of lines', '\u2028'],
  ['a tag', '\u{E0041}'],
  ['a soft hyphen', '\u00ad'],
  ['a letter that looks like nothing', '\u3164'],
  ['a blank of Braille', '\u2800'],
] as const;

test.each(UNSEEN)('%s is seen nowhere', (_, unseen) => {
  const text = `a${unseen}b`;
  expect(hasUnseen(text)).toBe(true);
  expect(withoutUnseen(text, '?')).toBe('a?b');
  expect(plainLine(text, 9)).toBe('a b');
  expect(plain(text)).toBe('a b');
  expect(inert(text)).not.toContain(unseen);
  expect(inertInline(text)).toMatch(/^"a(?:\\u[0-9a-f]{4})+b"$/);
  expect(piecesOf(text, true)).toEqual(['a', expect.objectContaining({ kind: 'chip' }), 'b']);
  const card = () => cardOf('pay', { labels: { cents: text } }, { type: 'object' });
  expect(card).toThrow(/is no label/);
});

test.each(['Zoë Müller', 'Ωλ', '株式会社', 'a\u{1F600}b', 'a-b_c'])('%p hides nothing', (text) => {
  expect(hasUnseen(text)).toBe(false);
  expect(plainLine(text, 20)).toBe(text);
  expect(inert(text)).toBe(text);
});
