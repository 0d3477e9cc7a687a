import assert from 'node:assert/strict';
import { test } from 'node:test';
import { config } from '../holdfast.config.js';
import { readOrder } from '../src/agent.js';

test('the agent can only read', () => {
  const agent = config.agents.get('orders');
  assert.deepEqual(
    agent?.tools.map(({ record }) => [record.name, record.effect]),
    [['read_order', 'read']],
  );
});

test('an order number that is none is refused', () => {
  assert.equal(readOrder.parse({ orderId: 'O-104' }).ok, true);
  assert.equal(readOrder.parse({ orderId: '../etc' }).ok, false);
});
