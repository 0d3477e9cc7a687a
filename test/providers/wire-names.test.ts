import fc from 'fast-check';
import { HoldfastError } from '../../core/state/errors.js';
import { isWireName, wireNameOf, wireNames } from '../../providers/wire-names.js';

const name = fc.stringMatching(/^[a-z_-]{1,6}(\.[a-z_-]{1,6}){0,3}$/);

describe('wire names', () => {
  test('replace dots', () => {
    expect(wireNameOf('refunds.issue_refund')).toBe('refunds__issue_refund');
  });

  test('lead back to the registry name for every manifest that is accepted', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 20 }), (names) => {
        let made;
        try {
          made = wireNames(names);
        } catch (error) {
          expect((error as HoldfastError).code).toBe('InvalidAgent');
          expect(new Set(names.map(wireNameOf)).size).toBeLessThan(names.length);
          return;
        }
        for (const each of names) {
          const wire = made.toWire(each) ?? '';
          expect(isWireName(wire)).toBe(true);
          expect(made.fromWire(wire)).toBe(each);
        }
      }),
    );
  });

  test('refuse two tools that would look the same to the model', () => {
    expect(() => wireNames(['a.b', 'c', 'a__b'])).toThrow(/a\.b.*a__b/);
  });

  test.each(['', 'mit leer', 'grüße', 'a'.repeat(65), '.'.repeat(33), 'a/b'])(
    'refuse %j',
    (bad) => {
      expect(() => wireNameOf(bad)).toThrow(HoldfastError);
    },
  );

  test('are unknown for what the model made up', () => {
    const made = wireNames(['a.b']);
    expect([made.fromWire('constructor'), made.fromWire('a.b'), made.toWire('x')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
