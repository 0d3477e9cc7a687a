import { z } from 'zod';
import { defineTool } from '../../authoring/index.js';

const base = {
  name: 'pay',
  version: '1',
  effect: 'financial',
  input: z.object({ order: z.string(), cents: z.number() }),
  run: () => 'paid',
} as const;

const amount = ({ cents }: { cents: number }) => cents;
const customer = ({ order }: { order: string }) => order;

test('limits and identity are the code of the worker, no part of the frozen record', () => {
  const tool = defineTool({
    ...base,
    limits: { amount, customer, perCustomerAndDay: { amount: 5 }, inAll: { count: 2 } },
    identity: ({ order }) => [order],
  });
  expect(tool.controls).toMatchObject({
    limits: { rules: { perCustomerAndDay: { amount: 5 }, inAll: { count: 2 } } },
    identity: { windowMs: 30 * 86_400_000 },
  });
  expect(JSON.stringify(tool.record)).not.toMatch(/limits|identity|controls/);
  expect(defineTool(base)).not.toHaveProperty('controls');
});

test('the window of an identity can be given', () => {
  const tool = defineTool({ ...base, identity: { of: ({ order }) => [order], windowMs: 5 } });
  expect(tool.controls?.identity?.windowMs).toBe(5);
});

test('what a tool says of its card is frozen with its record, as it was declared', () => {
  const card = {
    amount: { path: 'cents', unit: 'minor', currency: 'EUR' },
    recipient: 'order',
    reference: 'refundId',
    labels: { cents: 'Amount' },
  } as const;
  expect(defineTool({ ...base, card }).record.card).toEqual(card);
  expect(defineTool(base).record).not.toHaveProperty('card');
});

test('a card may name what the schema of its tool leaves open', () => {
  const input = {
    type: 'object',
    properties: { cents: { type: 'integer' } },
    oneOf: [{ properties: { iban: { type: 'string' } } }],
  } as const;
  const card = { recipient: 'iban' };
  expect(defineTool({ ...base, input, card }).record.card).toEqual(card);
});

test.each([
  ['no object', 'cents', /its card is no object/],
  ['another field', { amout: {} }, /card\.amout is unknown/],
  ['no unit', { amount: { path: 'cents', currency: 'EUR' } }, /amount\.unit is undefined/],
  ['no currency', { amount: { path: 'cents', unit: 'minor' } }, /amount\.currency is no path/],
  ['a code of no currency', { amount: { path: 'cents', unit: 'minor', currency: 'EUX' } }, /EUX/],
  ['an unknown argument', { recipient: 'iban' }, /"iban", which its input does not have/],
  ['a path into a text', { recipient: 'order.id' }, /"order\.id", which its input does not have/],
  ['a label of nothing', { labels: { iban: 'Account' } }, /"iban", which its input does not have/],
  ['a label that turns text around', { labels: { cents: 'a\u202eb' } }, /is no label/],
])('a card with %s is refused', (_what, card, message) => {
  const definition = { ...base, card } as unknown as typeof base;
  expect(() => defineTool(definition)).toThrow(message);
});

test.each([
  ['controls of a read', { effect: 'read', identity: () => ['x'] }, /its effect is "read"/],
  ['limits that limit nothing', { limits: { amount } }, /limit nothing/],
  ['a limit of another kind', { limits: { perYear: { count: 1 } } }, /limits\.perYear is unknown/],
  ['an empty limit', { limits: { perDay: {} } }, /limits\.perDay is \{\}/],
  ['a limit below 0', { limits: { perDay: { count: -1 } } }, /limits\.perDay/],
  ['half a call', { limits: { perDay: { count: 0.5 } } }, /limits\.perDay/],
  ['a limit by another name', { limits: { perDay: { calls: 1 } } }, /limits\.perDay/],
  ['amounts of nothing', { limits: { perDay: { amount: 1 } } }, /no call has one/],
  ['customers of nobody', { limits: { perCustomerAndDay: { count: 1 } } }, /no call has one/],
  ['limits that are no object', { limits: 'low' }, /limits/],
  ['an identity that is no function', { identity: ['order'] }, /identity is no function/],
  ['a window of nothing', { identity: { of: () => ['x'], windowMs: 0 } }, /window of its identity/],
])('%s are refused', (_what, declared, message) => {
  const definition = { ...base, ...declared } as unknown as typeof base;
  expect(() => defineTool(definition)).toThrow(message);
});
