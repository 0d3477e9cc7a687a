/** Results stay within their limit, whatever is in them, and keep what fits. */
import * as fc from 'fast-check';
import { bounded, RESULT_BYTES_MAX } from '../../../console/mcp-server/bounded.js';

test('what fits is told as it is', () => {
  const value = { text: 'a', list: [1, { b: null }], nothing: undefined };
  expect(bounded(value)).toEqual({ text: 'a', list: [1, { b: null }] });
});

test('a long text says how long it is, and no character is cut in two', () => {
  const { text } = bounded({ text: `${'a'.repeat(3_999)}𝒳${'b'.repeat(9)}` });
  expect(text).toBe(`${'a'.repeat(3_999)}… (cut, 4010 characters)`);
});

test('no value is larger than the limit', () => {
  const large = fc.oneof(
    fc.string({ maxLength: 200 }).map((text) => text.repeat(500)),
    fc
      .array(fc.string({ maxLength: 50 }), { maxLength: 30 })
      .map((all) => Array.from({ length: 60 }, () => all).flat()),
    fc.dictionary(fc.string({ maxLength: 300 }), fc.jsonValue({ maxDepth: 6 }), { maxKeys: 150 }),
  );
  fc.assert(
    fc.property(fc.array(large, { maxLength: 40 }), (items) => {
      const bytes = Buffer.byteLength(JSON.stringify(bounded({ items })));
      expect(bytes).toBeLessThanOrEqual(RESULT_BYTES_MAX);
    }),
    { numRuns: 40 },
  );
});
