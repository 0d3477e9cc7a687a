import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueRefund } from '../src/agent.js';
import { payRefund, refundWithKey } from '../src/shop.js';

test('no refund is paid without the word of a refund manager', () => {
  assert.equal(issueRefund.record.effect, 'financial');
  const { approval } = issueRefund.record;
  assert.ok(typeof approval === 'object');
  assert.deepEqual(approval.roles, ['refund-manager']);
});

test('an amount above the limit is refused', () => {
  assert.equal(issueRefund.parse({ orderId: 'O-104', amountCents: 4_999 }).ok, true);
  assert.equal(issueRefund.parse({ orderId: 'O-104', amountCents: 50_001 }).ok, false);
});

test('a payment that is asked for twice is made once', () => {
  const first = payRefund('key-1', 'O-104', 4_999);
  assert.deepEqual(payRefund('key-1', 'O-104', 4_999), first);
  assert.deepEqual(refundWithKey('key-1'), first);
});
