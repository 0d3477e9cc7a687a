import { agentMatchers, testAgent } from 'holdfast/testing';
import { agent, refunds } from './agent.js';

expect.extend(agentMatchers);

test('a lead approves the refund', async () => {
  const run = await testAgent(agent, refunds);
  expect(run).toHaveCalled('payments.refund', { amount: expect.any(Number) }, { times: 1 });
  expect(run).toHaveCalled('payments.refund', { amount: 101 }, { outcome: 'invalid_arguments' });
  expect(run).toHaveCalled('orders.note', undefined, { times: 1 });
  expect(run).not.toHaveCalled('orders.note', { more: 1 });
  expect(run).toHaveAsked({ tool: 'payments.refund', roles: ['lead'] });
  expect(run).toHaveCost({ max: 100_000 });
  expect(run).toHaveStopped('completed');
  expect(run.calls.map(({ result }) => result)).toContain('o-17 30.00');
});
