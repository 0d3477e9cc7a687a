import { matchRule } from '../../../core/permission/permission.js';
import { matchesName, type PolicyCondition, type PolicyRule } from '../../../core/state/policy.js';
import type { Json } from '../../../core/json/json.js';

function matches(when: PolicyCondition, args: Json): boolean {
  const rules: readonly PolicyRule[] = [{ tool: 'pay', decision: 'allow', when }];
  return matchRule({ version: '1', rules }, 'pay', args) !== undefined;
}

describe('a policy', () => {
  test('decides by its first rule that matches', () => {
    const rules: readonly PolicyRule[] = [
      { tool: 'pay', decision: 'deny', when: { path: 'amount', gte: 100 } },
      { tool: 'pay*', decision: 'ask' },
      { tool: '*', decision: 'allow' },
    ];
    const policy = { version: '1', rules };
    expect(matchRule(policy, 'pay', { amount: 100 })?.index).toBe(0);
    expect(matchRule(policy, 'pay', { amount: 99 })?.index).toBe(1);
    expect(matchRule(policy, 'read', {})?.index).toBe(2);
    expect(matchRule({ version: '1', rules: [] }, 'read', {})).toBeUndefined();
  });

  test('matches names exactly, or by a prefix that ends in a star', () => {
    expect(matchesName('pay', 'payout')).toBe(false);
    expect(matchesName('pay*', 'payout')).toBe(true);
    expect(matchesName('p.y', 'pay')).toBe(false);
  });

  test('compares numbers only with numbers', () => {
    expect(matches({ path: 'a', lte: 5 }, { a: 5 })).toBe(true);
    expect(matches({ path: 'a', lte: 5 }, { a: 6 })).toBe(false);
    expect(matches({ path: 'a', lte: 5 }, { a: '1' })).toBe(false);
    expect(matches({ path: 'a', lte: 5 }, {})).toBe(false);
    expect(matches({ path: 'a', gte: 0 }, { a: null })).toBe(false);
    expect(matches({ path: 'a', gte: 1, lte: 3 }, { a: 2 })).toBe(true);
  });

  test('looks into objects by dotted paths, never into arrays or references', () => {
    expect(matches({ path: 'a.b', equals: 'x' }, { a: { b: 'x' } })).toBe(true);
    expect(matches({ path: 'a.0', exists: true }, { a: ['x'] })).toBe(false);
    expect(matches({ path: 'a.bytes', exists: true }, { a: { $blob: 'f', bytes: 3 } })).toBe(false);
    expect(matches({ path: 'a', exists: false }, {})).toBe(true);
    expect(matches({ path: 'a', equals: { x: [1] } }, { a: { x: [1] } })).toBe(true);
  });

  test('compares objects whatever the order of their keys', () => {
    expect(matches({ path: 'a', equals: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } })).toBe(true);
  });

  test.each(['__proto__', 'constructor', '__proto__.polluted', 'toString', 'a.constructor.name'])(
    'finds nothing at the hostile path %s',
    (path) => {
      expect(matches({ path, exists: true }, { a: {} })).toBe(false);
    },
  );

  test('finds what arguments really own, even under such a name', () => {
    const args = JSON.parse('{"__proto__": {"admin": true}}') as Json;
    expect(matches({ path: '__proto__.admin', equals: true }, args)).toBe(true);
    expect(matches({ path: 'admin', exists: true }, args)).toBe(false);
  });
});
