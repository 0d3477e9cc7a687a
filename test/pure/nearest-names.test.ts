/** Names that somebody may have meant. */
import { didYouMean } from '../../pure/nearest-names.js';

const EFFECTS = ['none', 'read', 'write', 'send', 'financial'];

test.each([
  ['reed', 'Did you mean read or send? '],
  ['finacial', 'Did you mean financial? '],
  ['WRITE', 'Did you mean write? '],
  ['sent', 'Did you mean send? '],
  ['refund', ''],
  ['', ''],
  [undefined, ''],
  [{ length: 4 }, ''],
])('of %j: %j', (wanted, said) => {
  expect(didYouMean(wanted, EFFECTS)).toBe(said);
});
