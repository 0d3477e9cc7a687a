import { test } from 'node:test';
import { assertAsked, assertCalled, assertCost, assertStopped, testAgent } from 'holdfast/testing';
import { agent, refunds } from './agent.js';

void test('a lead approves the refund', async () => {
  const run = await testAgent(agent, refunds);
  assertCalled(run, { tool: 'payments.refund', args: { amount: 30 }, times: 1 });
  assertAsked(run, { tool: 'payments.refund', outcome: 'approved' });
  assertCost(run, { max: 100_000 });
  assertStopped(run, 'completed');
});
