import { runInNewContext } from 'node:vm';
import { thrownText } from '../../pure/thrown-text.js';

describe('what is told of something that was thrown', () => {
  test.each([
    [new Error('boom'), 'boom'],
    ['a text', 'a text'],
    [null, 'null'],
    [{ status: 503, body: { why: 'closed' } }, '{"status":503,"body":{"why":"closed"}}'],
    [['busy', { code: 7 }], '["busy",{"code":7}]'],
    [{ toString: () => 'its own words' }, 'its own words'],
    [runInNewContext('new Error("of another realm")'), 'Error: of another realm'],
    [{ count: 1n }, '[object Object]'],
    [Object.create(null), 'an error without a text'],
  ])('%# is a text that says something', (thrown, text) => {
    expect(thrownText(thrown)).toBe(text);
  });

  test('is the beginning of what is long', () => {
    expect(thrownText({ body: 'x'.repeat(10_000) })).toHaveLength(2_000);
  });
});
