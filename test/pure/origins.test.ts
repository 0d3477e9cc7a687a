/** G120: what a card says of where a value stands. */
import { standsIn, type Wanted } from '../../pure/origins.js';

const stands = (raw: string | number, text: string, shown?: string): string | undefined => {
  const wanted: Wanted = { raw, ...(shown !== undefined && { shown }) };
  return standsIn(wanted, { text });
};

test.each([
  ['O-100', 'Refund order O-1001.'],
  ['O-100', 'Refund order PO-100.'],
  ['O-100', 'Refund order O-100-2.'],
  ['C-7', 'The customer is C-77.'],
  ['100.00', 'Pay 2100.00 to the supplier.'],
  [100, 'Pay 2100.00 to the supplier.'],
  [100, 'Pay 100.50 to the supplier.'],
  [100, 'Order O-100 is late.'],
  [100, 'Since 2024-100 nothing came.'],
  ['ada@example.com', 'Write to ada@example.com.evil.org.'],
  ['ada@example.com', 'Write to not-ada@example.com.'],
  ['DE02 1203 0000 0000 2020', 'To DE02 1203 0000 0000 2020 51, please.'],
  ['DE021203000000002020', 'To DE02 1203 0000 0000 2020 51, please.'],
  ['1203 0000 0000 2020 51', 'To DE02 1203 0000 0000 2020 51, please.'],
  ['MT84 MALT 0110 0001 2345', 'To MT84 MALT 0110 0001 2345 MTLC AST0 01S.'],
  [1250, 'Pay 1.250 today.'],
  [100200, '{"rows":[100,200]}'],
  [7, 'In 7 days.'],
  ['', 'Anything.'],
  ['Ada', 'Adam writes.'],
])('%p does not stand in %p', (value, text) => {
  expect(stands(value, text)).toBeUndefined();
});

test.each([
  ['O-100', 'Refund order O-100.'],
  ['O-100', 'Refund "O-100", please'],
  ['O-100', 'First O-1001, then O-100'],
  ['C-7', '(C-7)'],
  ['100.00', 'Pay 100 to the supplier.'],
  [48250.75, 'Pay 48250.75 to the supplier.'],
  ['48250.75', 'Pay 48,250.75 to the supplier.'],
  [48250.75, 'Zahle 48.250,75 an den Lieferanten.'],
  [48250.75, 'Pay CHF 48’250.75.'],
  [48250.75, 'Zahle 48\u202f250,75 EUR.'],
  [48250.75, '{"total":48250.75}'],
  [200, '{"rows":[100,200]}'],
  ['ada@example.com', 'ada@example.com writes: Hello.'],
  ['ada@example.com', 'Mail <ada@example.com>.'],
  ['DE02 1203 0000 0000 2020 51', 'To DE02 1203 0000 0000 2020 51, please.'],
  ['DE02120300000000202051', 'To DE02 1203 0000 0000 2020 51.'],
  ['DE02120300000000202051', '{"iban":"DE02120300000000202051"}'],
  ['DE02 1203 0000 0000 2020 51', 'To DE02 1203 0000 0000 2020 51 EUR 100'],
  ['Ünal', 'Herr Ünal schreibt.'],
])('%p stands in %p', (value, text) => {
  expect(stands(value, text)).toBe('raw');
});

test('an amount is found as people write it, and raw where only that stands there', () => {
  expect(stands(4_825_075, 'Pay 48250.75 EUR.', '48,250.75 EUR')).toBe('as shown');
  expect(stands(10_000, 'Pay 100 EUR.', '100.00 EUR')).toBe('as shown');
  expect(stands(8_950, '{"amountCents":8950}', '89.50 EUR')).toBe('raw');
  expect(stands(10_000, 'Pay 2100.00 EUR.', '100.00 EUR')).toBeUndefined();
  expect(stands(10_000, 'Order O-100.', '100.00 EUR')).toBeUndefined();
});

test('what touches the place where a text is cut is no token', () => {
  expect(standsIn({ raw: 'O-100' }, { text: 'Refund O-100', isCut: true })).toBeUndefined();
  expect(standsIn({ raw: 'O-100' }, { text: 'Refund O-100', isCut: false })).toBe('raw');
  expect(standsIn({ raw: 100 }, { text: 'Refund 100', isCut: true })).toBeUndefined();
});

test('long texts are searched in a moment', () => {
  const text = '1 '.repeat(131_000);
  const from = performance.now();
  stands('DE02 1203 0000 0000 2020 51', text, '1.00 EUR');
  stands(12_345, text.replaceAll(' ', ','), '123.45 EUR');
  stands('1'.repeat(40), '1'.repeat(262_144));
  expect(performance.now() - from).toBeLessThan(2_000);
});
