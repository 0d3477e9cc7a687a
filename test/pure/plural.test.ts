/** One of a thing is not several. */
import { plural } from '../../pure/plural.js';

test.each([
  [0, '0 turns'],
  [1, '1 turn'],
  [2, '2 turns'],
  [1_200, '1,200 turns'],
])('%d: %s', (count, words) => {
  expect(plural(count, 'turn')).toBe(words);
});

test('a plural that is not the noun with an s is named', () => {
  expect([1, 2].map((count) => plural(count, 'reply', 'replies'))).toEqual([
    '1 reply',
    '2 replies',
  ]);
});
