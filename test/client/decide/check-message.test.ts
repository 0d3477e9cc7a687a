/** What people write is kept as it is, or refused before anything is sent. */
import { checkMessage } from '../../../client/decide/check-message.js';
import { answerBody, decision, messageBody } from '../../../console/http/shapes.js';
import { textDefect } from '../../../pure/text-defect.js';

const HALF = '\ud83d';
const BROKEN = ['a\0b', `a${HALF}b`, `${HALF}`, '\ude00 a'];
const WHOLE = ['a b', '\ud83d\ude00', 'x\ty\nz', '\u202e', '\u0001'];

test.each(BROKEN)('a message with %j is refused, and says why', (text) => {
  expect(() => checkMessage({ text })).toThrow(/The message was not sent: its text has/);
  expect(messageBody.safeParse({ text }).success).toBe(false);
});

test.each(WHOLE)('a message with %j is taken as it is', (text) => {
  expect(() => checkMessage({ text: `a${text}` })).not.toThrow();
  expect(messageBody.parse({ text: `a${text}b` })).toEqual({ text: `a${text}b` });
});

test.each(BROKEN)('so are answers and reasons with %j, however deep they are', (text) => {
  for (const value of [text, { inner: [text] }, { [text]: 1 }]) {
    expect(answerBody.safeParse({ value }).success).toBe(false);
  }
  const rejected = { decision: 'reject', argsHash: 'a'.repeat(64) };
  expect(decision.safeParse({ ...rejected, reason: `No ${text} no` }).success).toBe(false);
  expect(decision.safeParse({ ...rejected, reason: 'No' }).success).toBe(true);
});

test('arguments of a correction keep what the model has put there', () => {
  const args = { note: 'a\0b' };
  const modified = { decision: 'modify', argsHash: 'a'.repeat(64), args };
  expect(decision.parse(modified)).toMatchObject({ args });
  expect(textDefect({ n: 1, t: null, b: true })).toBeUndefined();
});
