/** Who is told to have decided a question that several people had to approve. */
import { decidersOf, endWords } from '../../pure/deciders-of.js';

const by = ['ana', 'bob'];

test.each([
  ['approved', by],
  ['answered', by],
  ['rejected', ['bob']],
  ['modified', ['bob']],
  ['stopped', ['bob']],
  ['expired', []],
])('a question that is %s was decided by %j', (outcome, deciders) => {
  expect(decidersOf({ outcome, by })).toEqual(deciders);
});

test('a question that was decided by nobody names nobody', () => {
  expect(decidersOf({ outcome: 'rejected', by: [] })).toEqual([]);
});

test.each([
  ['approved', by, ' by ana, bob'],
  ['rejected', by, ' by bob'],
  ['expired', ['ana'], ' (only ana approved)'],
  ['expired', [], ''],
])('the end %s after words of %j is told as "%s"', (outcome, names, words) => {
  expect(endWords({ outcome, by: names })).toBe(words);
});
