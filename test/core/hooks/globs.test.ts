/** Which hooks a call's name matches. */
import type { OpenRun } from '../../../core/state/run.js';
import { CHANGES, RULES_VERSION } from '../../../core/step/changes.js';
import { hooksFor } from '../../../core/hooks/start.js';
import { tool } from '../script.js';

function asked(
  match: object | undefined,
  name: string | undefined,
  rules = RULES_VERSION,
): boolean {
  const frozen = {
    hooks: { PreToolUse: ['guard'] },
    tools: [tool('abab'), tool('pay', { effect: 'financial' })],
    ...(match !== undefined && { hookMatches: { guard: match } }),
  };
  const run = { frozen, rules } as unknown as OpenRun;
  return (
    hooksFor(run, { point: 'PreToolUse', ...(name !== undefined && { tool: name }) }).length > 0
  );
}

test.each([
  ['abab', 'abab', true],
  ['aba', 'abab', false],
  ['*', 'abab', true],
  ['**', 'abab', true],
  ['ab*', 'abab', true],
  ['ab*ab', 'abab', true],
  ['ab*b*ab', 'abab', false],
  ['a*b', 'ab', true],
  ['aba*bab', 'abab', false],
  ['ab*', 'ab', true],
  ['*ab', 'ab', true],
  ['*b*', 'abab', true],
  ['b*', 'abab', false],
  ['*a', 'abab', false],
  ['*a*b*', 'ba', false],
  ['*x*', 'xab', true],
  ['*x*', 'abx', true],
  ['*x*', 'ab', false],
  ['a*a*a', 'aa', false],
  ['a*a*a', 'aaa', true],
  ['', 'abab', false],
])('%s and %s: %s', (glob, name, matches) => {
  expect(asked({ tools: [glob] }, name)).toBe(matches);
});

test('a hook is asked about a tool by name and by effect', () => {
  expect(asked({ effects: ['financial'] }, 'pay')).toBe(true);
  expect(asked({ effects: ['financial'] }, 'abab')).toBe(false);
  expect(asked({ effects: ['financial'], tools: ['abab'] }, 'pay')).toBe(false);
  // Of a tool that is not known the worst is assumed.
  expect(asked({ effects: ['financial'] }, 'unknown')).toBe(true);
  expect(asked({ effects: ['financial'], tools: ['pay'] }, 'unknown')).toBe(false);
  expect(asked({}, 'abab')).toBe(true);
});

test('a hook that matches nothing is asked about what is no call, and under older rules', () => {
  const never = { tools: ['never'] };
  expect([asked(never, undefined), asked(undefined, 'abab')]).toEqual([true, true]);
  expect(asked(never, 'abab', CHANGES.matchedHooks.since - 1)).toBe(true);
  expect(asked(never, 'abab', CHANGES.matchedHooks.since)).toBe(false);
});
