/** Whose workers run a tool: its queue is frozen with it, and chosen in the run. */
import { RULES_VERSION } from '../../../core/step/changes.js';
import { call, calls, says, tool } from '../script.js';
import { createShell, settle, started, type Shell } from '../shell.js';

const WITHOUT_QUEUES = 9;
const SANDBOXED = { effect: 'execute', idempotency: 'none', approval: 'by_policy' } as const;
const TOOLS = [
  tool('x_plain'),
  tool('x_heavy', { effect: 'write', idempotency: 'keyed', queue: 'heavy', probes: true }),
  tool('x_both', { ...SANDBOXED, sandbox: 'optional', queue: 'heavy', sandboxQueue: 'jail' }),
  tool('x_jailed', { ...SANDBOXED, sandbox: 'required', sandboxQueue: 'jail' }),
];

function ran(name: string, { rules = RULES_VERSION, sandbox = false } = {}): Shell {
  const decision = sandbox ? 'sandbox' : 'allow';
  const policy = [{ tool: '*', decision }] as const;
  const model = [calls(call('a', name, {})), says('ok')];
  return settle(
    createShell({ rules, tools: TOOLS, policy: name === 'x_plain' ? [] : policy, model }),
  );
}

const queueOf = (shell: Shell): unknown => started(shell, 'execute_tool')[0]?.queue;

test.each([
  ['x_plain', false, undefined],
  ['x_heavy', false, 'heavy'],
  ['x_both', false, 'heavy'],
  ['x_both', true, 'jail'],
  ['x_jailed', false, 'jail'],
])('%s (sandbox by policy: %s) runs on %s', (name, sandbox, queue) => {
  expect(queueOf(ran(name, { sandbox }))).toBe(queue);
  expect(started(ran(name, { sandbox }), 'execute_tool')).toHaveLength(1);
});

test('what finds out how a call ended runs there too', () => {
  const model = [calls(call('a', 'x_heavy', {})), says('ok')];
  const policy = [{ tool: '*', decision: 'allow' }] as const;
  const outcomes = { x_heavy: [{ ambiguous: 'connection reset' }, { ok: 'done' }] };
  const findings = [{ kind: 'not_happened' }] as const;
  const lost = settle(createShell({ tools: TOOLS, policy, model, outcomes, findings }));
  expect(started(lost, 'reconcile_tool').map(({ queue }) => queue)).toEqual(['heavy']);
});

test('under older rules a tool runs where the run does', () => {
  const shell = ran('x_heavy', { rules: WITHOUT_QUEUES });
  expect(started(shell, 'execute_tool')).toHaveLength(1);
  expect(started(shell, 'execute_tool')[0]).not.toHaveProperty('queue');
});

test('models, and the checks of a run, stay on its own queue', () => {
  const shell = ran('x_heavy');
  for (const kind of ['call_model', 'close_run', 'open_run'] as const) {
    for (const effect of started(shell, kind)) expect(effect).not.toHaveProperty('queue');
  }
});
