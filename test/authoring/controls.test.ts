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
