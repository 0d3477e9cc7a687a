import fc from 'fast-check';
import { decodeText, encodeText } from '../../store/postgres/text-codec.js';

const hostile = fc.string({
  unit: fc.constantFrom('\0', '\uFDD0', '0', '1', 'a', '🔑', '\\'),
  maxLength: 20,
});

test('every text comes back as it was, and its code holds no U+0000', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const code = encodeText(text);
      expect(code).not.toContain('\0');
      expect(decodeText(code)).toBe(text);
    }),
  );
});

test('different texts have different codes', () => {
  fc.assert(
    fc.property(hostile, hostile, (one, other) => {
      expect(encodeText(one) === encodeText(other)).toBe(one === other);
    }),
  );
});

test('what people write is its own code', () => {
  fc.assert(
    fc.property(fc.string(), (text) => encodeText(text) === text || /[\0\uFDD0]/.test(text)),
  );
});
