/** What a card shows first, as the tool declares it. */
import { argumentsInOrder } from '../../pure/argument-order.js';
import { decimalOf, decimalText, isBeyondFactor } from '../../pure/decimal.js';
import { countedIn, headlineOf } from '../../pure/headline.js';
import type { ToolCard } from '../../core/state/tool-card.js';

const amountOf = (amount: ToolCard['amount'], args: object): string | undefined =>
  headlineOf({ args, card: { ...(amount && { amount }) } }).amount?.value;
const minor = (currency: string) => ({ path: 'amount', unit: 'minor', currency }) as const;
const major = (currency: string) => ({ path: 'amount', unit: 'major', currency }) as const;

test.each([
  [minor('EUR'), { amount: 125_000 }, '1,250.00 EUR'],
  [minor('EUR'), { amount: 5 }, '0.05 EUR'],
  [minor('EUR'), { amount: '125000' }, '1,250.00 EUR'],
  [minor('JPY'), { amount: 125_000 }, '125,000 JPY'],
  [minor('KWD'), { amount: 125_000 }, '125.000 KWD'],
  [minor('currency'), { amount: 125_000, currency: 'jpy' }, '125,000 JPY'],
  [minor('currency'), { amount: 125_000 }, '125,000 of the smallest unit'],
  [minor('currency'), { amount: 125_000, currency: 'XQX' }, '125,000 of the smallest unit XQX'],
  [major('EUR'), { amount: 48_250.75 }, '48,250.75 EUR'],
  [major('EUR'), { amount: '48250.75' }, '48,250.75 EUR'],
  [major('EUR'), { amount: '12345678901234567890.10' }, '12,345,678,901,234,567,890.10 EUR'],
  [major('EUR'), { amount: 12.345 }, '12.345 EUR'],
  [major('JPY'), { amount: '1200' }, '1,200 JPY'],
  [major('EUR'), { amount: -5 }, '-5.00 EUR'],
  [major('EUR'), { amount: 'all of it' }, 'all of it'],
  [minor('EUR'), {}, undefined],
])('%p of %p is %p', (amount, args, text) => {
  expect(amountOf(amount, args)).toBe(text);
});

test('paths lead into objects, and never to what an object inherits', () => {
  const card = { recipient: 'to.iban', labels: { 'to.iban': 'Account' } };
  expect(headlineOf({ args: { to: { iban: 'DE02' } }, card }).recipient).toEqual({
    path: 'to.iban',
    name: 'Account',
    value: 'DE02',
    raw: 'DE02',
  });
  expect(headlineOf({ args: {}, card: { recipient: 'constructor.name' } })).toEqual({});
});

test('without a card nothing is taken for an amount, whatever its name is', () => {
  expect(headlineOf({ args: { amountCents: 5, total: 7, recipient: 'A' } })).toEqual({});
});

const outlook = (amount: number) => ({
  amount,
  customer: 'C-7',
  limits: [{ scope: 'perDay', amount: 300_000, used: { amount: 0, count: 0 } }] as const,
});

test('what the limits of a tool know counts where it declares no card', () => {
  expect(headlineOf({ args: {}, limits: outlook(125_000) })).toMatchObject({
    amount: { value: '125,000' },
    recipient: { value: 'C-7' },
  });
});

test('limits are said in the unit of the headline', () => {
  const own = { args: { amount: 125_000 }, card: { amount: minor('EUR') } };
  expect(countedIn({ ...own, limits: outlook(125_000) }).all(300_000)).toBe('3,000.00 EUR');
  const euros = { args: { amount: '1250.00' }, card: { amount: major('EUR') } };
  expect(countedIn({ ...euros, limits: outlook(125_000) }).all(300_000)).toBe('3,000.00 EUR');
  const whole = { args: { amount: 1_250 }, card: { amount: major('EUR') } };
  expect(countedIn({ ...whole, limits: outlook(1_250) }).all(3_000)).toBe('3,000.00 EUR');
  const yen = { args: { amount: 500 }, card: { amount: minor('JPY') } };
  expect(countedIn({ ...yen, limits: outlook(500) }).all(300_000)).toBe('300,000 JPY');
});

test('where calls choose the currency, sums of them are given none', () => {
  const args = { amount: 125_000, currency: 'EUR' };
  const counted = countedIn({
    args,
    card: { amount: minor('currency') },
    limits: outlook(125_000),
  });
  expect([counted.own(125_000), counted.all(300_000)]).toEqual(['1,250.00 EUR', '3,000.00']);
});

test('limits in a unit that the headline does not tell stay bare numbers', () => {
  const own = { args: { amount: 125_000 }, card: { amount: minor('EUR') } };
  expect(countedIn({ ...own, limits: outlook(3) }).all(300_000)).toBe('300,000');
  expect(countedIn({ args: {}, limits: outlook(3) }).all(300_000)).toBe('300,000');
});

test('arguments stand in the order of the schema, amounts first, the largest first', () => {
  const schema = { properties: { note: {}, fee_amount: {}, to: {}, total: {} } };
  const args = {
    zeta: 1,
    total: '1000.5',
    to: 'A',
    fee_amount: 20,
    note: 'n',
    inner: { price: 50 },
  };
  expect(argumentsInOrder(args, schema).map(({ path }) => path)).toEqual([
    'total',
    'inner.price',
    'fee_amount',
    'note',
    'to',
    'zeta',
    'inner',
  ]);
});

test('decimals are exact', () => {
  expect(decimalText(decimalOf('0.1')!, 2)).toBe('0.10');
  expect(decimalText(decimalOf(1e21)!, 0)).toBe('1,000,000,000,000,000,000,000');
  expect(decimalText(decimalOf(1e-7)!, 0)).toBe('0.0000001');
  expect(decimalText(decimalOf('-0.5')!, 0)).toBe('-0.5');
  expect(decimalOf('1,5')).toBeUndefined();
  expect(decimalOf('')).toBeUndefined();
  expect(decimalOf(Number.NaN)).toBeUndefined();
});

test.each([
  [100, 200, false],
  [100, '200.01', true],
  [100, 50, false],
  [100, 49, true],
  [0, 1, true],
  [0, 0, false],
  [5, -5, true],
])('from %p to %p is beyond a factor of two: %p', (before, after, isBeyond) => {
  expect(isBeyondFactor(decimalOf(before)!, decimalOf(after)!, 2n)).toBe(isBeyond);
});
