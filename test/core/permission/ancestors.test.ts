/** What ancestors of a sub-agent say of its calls, beside its own permission. */
import { visibleTools } from '../../../core/permission/permission.js';
import { isOpen } from '../../../core/state/run.js';
import type { PolicyRule } from '../../../core/state/policy.js';
import { call, calls, says, tool, type Script } from '../script.js';
import { answer, createShell, finish, send, settle, started, until } from '../shell.js';

function below(rules: readonly PolicyRule[], more: Partial<Script>) {
  const authority = { policy: { version: '1', rules }, allowedTools: [], mode: 'default' } as const;
  return createShell({ within: [authority], model: [says('done')], ...more });
}

const SANDBOX: readonly PolicyRule[] = [{ tool: 'x_shell', decision: 'sandbox' }];
const ASK: readonly PolicyRule[] = [{ tool: 'x_shell', decision: 'ask' }];

test.each([
  ['its parent wants a sandbox and it asks', SANDBOX, ASK],
  ['its parent asks and it wants a sandbox', ASK, SANDBOX],
])('A call that is approved runs in the sandbox where %s.', (_, above, policy) => {
  const shell = below(above, {
    policy,
    tools: [tool('x_shell', { effect: 'execute', approval: 'by_policy', sandbox: 'optional' })],
    model: [calls(call('a', 'x_shell', {})), says('done')],
  });
  settle(shell);
  answer(shell);
  expect(finish(shell).stopReason).toBe('completed');
  expect(started(shell, 'execute_tool')[0]?.input.grant.sandbox).toBe(true);
});

test.each([
  [0, { tool: 'x_web', decision: 'deny', when: { path: 'a', equals: 1 } } as const],
  [1, { tool: 'x_web', decision: 'allow', when: { path: 'a', equals: 1 } } as const],
])('A sub-agent sees %i hosted tools where a rule of its parent is %j.', (many, rule) => {
  const shell = below([rule], { tools: [tool('x_web', { kind: 'hosted' })] });
  until(shell, 'session_init');
  const { run } = shell;
  expect(isOpen(run) ? visibleTools(run) : undefined).toHaveLength(many);
});

const PAY = {
  tools: [tool('x_pay', { effect: 'write', approval: 'never', idempotency: 'keyed' })],
  model: [calls(call('a', 'x_pay', {})), says('done')],
  parent: { kind: 'run', id: 'up', n: 1, digest: 'd' },
} as const satisfies Partial<Script>;

test.each([
  ['plan', 0],
  ['default', 1],
] as const)(
  'A call of a sub-agent below a run that is set to %s is executed %i times.',
  (mode, many) => {
    const shell = below([], PAY);
    send(shell, { type: 'modes_above', modes: [mode] });
    expect(finish(shell).stopReason).toBe('completed');
    expect(started(shell, 'execute_tool')).toHaveLength(many);
  },
);

test('A mode that is told from above gives nothing that the ancestor did not have at first.', () => {
  const planning = { policy: { version: '1', rules: [] }, allowedTools: [], mode: 'plan' } as const;
  const shell = createShell({ within: [planning], ...PAY });
  send(shell, { type: 'modes_above', modes: ['bypassPermissions'] });
  expect(finish(shell).stopReason).toBe('completed');
  expect(started(shell, 'execute_tool')).toHaveLength(0);
});

test('A run that is nobody’s sub-agent hears no modes from above.', () => {
  const shell = createShell({ tools: PAY.tools, model: PAY.model });
  send(shell, { type: 'modes_above', modes: ['plan'] });
  expect(finish(shell).stopReason).toBe('completed');
  expect(started(shell, 'execute_tool')).toHaveLength(1);
  expect(shell.run.modesAbove).toBeUndefined();
});
