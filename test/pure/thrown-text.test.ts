import { runInNewContext } from 'node:vm';
import { thrownText } from '../../pure/thrown-text.js';

describe('what is told of something that was thrown', () => {
  test.each([
    [new Error('boom'), 'boom'],
    ['a text', 'a text'],
    [null, 'null'],
    [{ status: 503, body: { why: 'closed' } }, '{"status":503,"body":"…"}'],
    [
      { code: 'busy', headers: 'x: 1', apiKey: 'sk-1', Authorization: 'Bearer 1' },
      '{"code":"busy"}',
    ],
    [{ message: 'The door is closed.', status: 503 }, 'The door is closed.'],
    [['busy', { code: 7 }], '["busy","…"]'],
    [{ toString: () => 'its own words' }, 'its own words'],
    [runInNewContext('new Error("of another realm")'), 'Error: of another realm'],
    [{ count: 1n }, '{"count":"…"}'],
    [Object.create(null), 'an error without a text'],
  ])('%# is a text that says something', (thrown, text) => {
    expect(thrownText(thrown)).toBe(text);
  });

  test('is the beginning of what is long', () => {
    const long = Array.from({ length: 30 }, () => 'x'.repeat(10_000));
    expect(thrownText(long)).toHaveLength(2_000);
  });
});
