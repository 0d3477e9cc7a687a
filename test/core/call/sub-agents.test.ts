/** Calls that become runs of their own: their money, the words of a child, and what is given up. */
import { call, calls, says, tool, type ChildScript, type Script } from '../script.js';
import { createShell, finish, ofType, send, started, until } from '../shell.js';

const AGENT = { agent: 'case/r', version: '1', parallel: true } as const;

function delegating(children: readonly ChildScript[], more: Partial<Script> = {}) {
  return createShell({
    tools: [tool('x_agent', { kind: 'subagent', effect: 'none', concurrencySafe: true })],
    agents: { r: AGENT },
    model: [calls(call('a', 'x_agent', { name: 'r', prompt: 'Look.' })), says('done')],
    children,
    ...more,
  });
}

test('What a sub-agent cost is spent, and the rest of its slice comes back.', () => {
  const shell = delegating([{ end: { costMicroUsd: 1_234 } }]);
  const before = finish(delegating([{}])).costMicroUsd;
  expect(finish(shell)).toMatchObject({ stopReason: 'completed', costMicroUsd: before + 1_234 });
  expect(shell.run.money.reserved).toEqual({});
  expect(shell.run.children).toBeUndefined();
});

test('A sub-agent whose word is lost is looked at after a minute.', () => {
  const shell = delegating([{ silent: true }]);
  expect(finish(shell).stopReason).toBe('completed');
  expect(shell.run.clock.waitingMs).toBeGreaterThanOrEqual(60_000);
  expect(started(shell, 'close_child')).toHaveLength(1);
});

test('A number that an earlier sub-agent of a reset run has is passed over, and the call is told once.', () => {
  const shell = delegating([{ refused: { why: 'passed', message: 'an earlier one' } }]);
  expect(finish(shell).stopReason).toBe('completed');
  expect(started(shell, 'prepare_child').map(({ input }) => input.child)).toEqual([
    'run_1:a1',
    'run_1:a2',
  ]);
  expect(ofType(shell, 'tool_started')).toHaveLength(1);
});

test.each([
  ['child_id_taken', 'execution_error'],
  ['crowded', 'budget_exceeded'],
  ['used_up', 'budget_exceeded'],
] as const)('A sub-agent that is not started because %s is the result %s.', (why, code) => {
  const shell = delegating([{ refused: { why, message: 'no' } }]);
  expect(finish(shell).stopReason).toBe('completed');
  expect(ofType(shell, 'tool_finished')[0]).toMatchObject({ status: 'error', code });
  expect(shell.run.money.reserved).toEqual({});
});

test('A sub-agent that does not end when its parent is stopped is given up after a minute.', () => {
  const shell = delegating([{ waits: true, end: { unconfirmed: true, costMicroUsd: 5 } }]);
  until(shell, 'tool_started');
  send(shell, { type: 'interrupt' });
  expect(finish(shell).stopReason).toBe('interrupted');
  expect(started(shell, 'close_child').at(-1)?.input.last).toBe(true);
  expect(shell.run.money.reserved).toEqual({});
});
