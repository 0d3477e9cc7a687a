/** Calls that become runs of their own (G69, G87): their money, the words of a child, and what is given up. */
import { tendChildren } from '../../../core/call/children.js';
import type { OpenRun } from '../../../core/state/run.js';
import { heard } from '../../../core/loop/signals.js';
import { call, calls, flows, says, tool, type ChildScript, type Script } from '../script.js';
import {
  codesOf,
  createShell,
  crossSegment,
  finish,
  ofType,
  post,
  send,
  START,
  started,
  tick,
  until,
  type Shell,
} from '../shell.js';

const AGENT = { agent: 'case/r', version: '1', parallel: true } as const;

/** What the store says of one that never was. */
const LOST = { stopReason: 'failed', code: 'execution_error', content: { text: 'lost' } } as const;

const BESIDE_A_READ: Partial<Script> = {
  tools: [
    tool('x_agent', { kind: 'subagent', effect: 'none', concurrencySafe: true }),
    tool('x_read', { concurrencySafe: true }),
  ],
  settings: { toolExecution: 'batched' },
  outcomes: { x_read: [{ ok: 1, delayMs: 20_000 }] },
  model: [
    calls(call('a', 'x_agent', { name: 'r', prompt: 'Look.' }), call('b', 'x_read', {})),
    says('done'),
  ],
};

function untilOpen(shell: Shell): void {
  while (shell.run.children?.[0]?.stage !== 'open') tick(shell);
}

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

test('What a passed one cost is spent.', () => {
  const passed = { why: 'passed', message: 'an earlier one', costMicroUsd: 700 } as const;
  const before = finish(delegating([{}])).costMicroUsd;
  expect(finish(delegating([{ refused: passed }])).costMicroUsd).toBe(before + 700);
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

test('A sub-agent that does not end when its parent is stopped is given up after a minute for each generation below.', () => {
  const shell = delegating([{ waits: true, end: { unconfirmed: true, costMicroUsd: 5 } }]);
  untilOpen(shell);
  send(shell, { type: 'interrupt' });
  expect(finish(shell).stopReason).toBe('interrupted');
  expect(started(shell, 'close_child').at(-1)?.input.last).toBe(true);
  expect(shell.run.money.reserved).toEqual({});
  // Three generations may have to give up one after the other.
  expect(shell.run.clock.waitingMs).toBeGreaterThanOrEqual(2 * 60_000);
});

test.each(['interrupt', 'cancel_requested'] as const)(
  'A run in a full segment that hears %s while a sub-agent and a read are open comes to its end.',
  (type) => {
    const shell = delegating([{ ms: Infinity }], BESIDE_A_READ);
    untilOpen(shell);
    send(shell, { type: 'segment_full' });
    send(shell, { type });
    expect(finish(shell).stopReason).toBe(type === 'interrupt' ? 'interrupted' : 'aborted');
    expect(started(shell, 'close_child')).toHaveLength(1);
  },
);

test('A pause in a full segment waits for the outcome of a sub-agent and goes on in the next segment.', () => {
  const shell = delegating([{ ms: Infinity }], {
    ...BESIDE_A_READ,
    settings: { toolExecution: 'batched', interruptMode: 'pause' },
  });
  untilOpen(shell);
  post(shell, { type: 'interrupt' });
  crossSegment(shell);
  expect(shell.run).toMatchObject({ idle: true });
  expect(shell.run.children).toBeUndefined();
});

test('A sub-agent that hears nothing in a full segment is given up when its grace is over.', () => {
  const shell = delegating([{ waits: true, end: { unconfirmed: true } }], BESIDE_A_READ);
  untilOpen(shell);
  send(shell, { type: 'segment_full' });
  send(shell, { type: 'interrupt' });
  expect(finish(shell).stopReason).toBe('interrupted');
  expect(started(shell, 'close_child').at(-1)?.input.last).toBe(true);
});

test('A stop does not wait for a row that is being prepared, and seals it before the call ends.', () => {
  const shell = delegating([{ preparesMs: 86_400_000, end: LOST }]);
  until(shell, 'tool_started');
  send(shell, { type: 'interrupt' });
  expect(finish(shell).stopReason).toBe('interrupted');
  expect(shell.run.now).toBeLessThan(START + 60_000);
  expect(started(shell, 'close_child').map(({ input }) => input.last)).toEqual([true]);
  expect(codesOf(shell)).toEqual({ a: 'interrupted_mid_execution' });
  expect(shell.effects.filter(({ kind }) => kind === 'start_child')).toEqual([]);
});

test('A row that cannot be prepared is sealed, and the call says why.', () => {
  const shell = delegating([{ notPrepared: 'no worker serves x_agent', end: LOST }]);
  expect(finish(shell).stopReason).toBe('completed');
  expect(started(shell, 'close_child')).toHaveLength(1);
  expect(ofType(shell, 'tool_finished')[0]).toMatchObject({ code: 'execution_error' });
  expect(JSON.stringify(shell.effects)).toContain('no worker serves x_agent');
});

test.each([
  [1, ['desk'], true],
  [1, ['desk', 'auditor'], false],
  [2, ['desk', 'auditor'], true],
  [2, ['desk', 'auditor', 'clerk'], false],
  [0, ['desk'], false],
] as const)(
  'In a tree of %d generations a run at %j that has the tool starts a sub-agent: %s.',
  (depth, path, isStarted) => {
    const limits = { depth, atOnce: 4, inAll: 50 };
    const shell = delegating([{}], { lineage: { root: 'root', path, call: 'c', limits } });
    expect(finish(shell).stopReason).toBe('completed');
    expect(started(shell, 'prepare_child')).toHaveLength(isStarted ? 1 : 0);
    expect(codesOf(shell)).toEqual({ a: isStarted ? 'ok' : 'tool_not_allowed' });
    expect(shell.run.money.reserved).toEqual({});
  },
);

test('Sub-agents that work side by side are counted once.', () => {
  const each = 50_000;
  const ids = ['a', 'b', 'c', 'd'];
  const shell = delegating(
    ids.map((_, n) => ({ ms: each + n * 1_000, end: { activeMs: each } })),
    {
      settings: { toolExecution: 'batched' },
      model: [
        calls(...ids.map((id) => call(id, 'x_agent', { name: 'r', prompt: 'Look.' }))),
        says('done'),
      ],
    },
  );
  expect(finish(shell).stopReason).toBe('completed');
  const { activeMs, waitingMs } = shell.run.clock;
  expect(activeMs).toBeGreaterThanOrEqual(each);
  expect(activeMs).toBeLessThan(each + 5_000);
  expect(waitingMs).toBeGreaterThanOrEqual(0);
});

test('The built-in tool starts no agent that is a tool of its own, and does not name it.', () => {
  const shell = delegating([], {
    tools: [
      tool('x_agent', { kind: 'subagent', effect: 'none' }),
      tool('x_refunds', { kind: 'subagent', effect: 'none', startsAgent: 'x_refunds' }),
    ],
    agents: { r: AGENT, x_refunds: AGENT },
    model: [calls(call('a', 'x_agent', { name: 'x_refunds', prompt: 'Look.' })), says('done')],
  });
  finish(shell);
  expect(started(shell, 'prepare_child')).toEqual([]);
  expect(ofType(shell, 'tool_finished')[0]).toMatchObject({ code: 'invalid_arguments' });
  expect(JSON.stringify(shell.effects)).toContain('There are: r.');
});

function slicesOf(shell: Shell): readonly (number | undefined)[] {
  return started(shell, 'prepare_child').map(({ input }) => input.slice.maxCostMicroUsd as number);
}

function together(names: readonly string[], agents: NonNullable<Script['agents']>): Shell {
  const proposed = names.map((name, n) => call(`c${n}`, 'x_agent', { name, prompt: 'Look.' }));
  const shell = delegating([], {
    agents,
    settings: { toolExecution: 'batched' },
    budget: { maxCostMicroUsd: 1_000_000 },
    model: [calls(...proposed), says('done')],
  });
  finish(shell);
  return shell;
}

test('A named sub-agent takes its own in full, and the others share what is left.', () => {
  const named = { ...AGENT, budget: { maxCostMicroUsd: 400_000 } };
  const [first = 0, second = 0, third] = slicesOf(
    together(['r', 'r', 'n'], { r: AGENT, n: named }),
  );
  expect(third).toBe(400_000);
  expect(first).toBeGreaterThan(290_000);
  expect(Math.abs(first - second)).toBeLessThanOrEqual(1);
});

test('A sub-agent that runs alone has all that is left.', () => {
  const alone = { agent: 'case/r', version: '1', parallel: false };
  const [first] = slicesOf(together(['r', 'r'], { r: alone }));
  expect(first).toBeGreaterThan(900_000);
});

test('A declared number of tool calls never passes what its parent has left.', () => {
  const greedy = { ...AGENT, budget: { maxToolCalls: 1_000 } };
  const shell = delegating([], { agents: { r: greedy }, budget: { maxToolCalls: 5 } });
  finish(shell);
  expect(started(shell, 'prepare_child')[0]?.input.slice.maxToolCalls).toBe(5);
});

test('A call that waits for its sub-agent keeps its path of the state.', () => {
  const shell = delegating([{ ms: 5_000 }], {
    tools: [
      tool('x_agent', { kind: 'subagent', effect: 'none', concurrencySafe: true }),
      tool('x_read', { concurrencySafe: true }),
    ],
    settings: { toolExecution: 'dataflow' },
    model: [
      calls(
        flows('c', 'x_read', {}),
        flows('b', 'x_read', { _outputPath: 'found', _dependsOn: ['c'] }),
        flows('a', 'x_agent', { name: 'r', prompt: 'Look.', _outputPath: 'found' }),
      ),
      says('done'),
    ],
  });
  expect(finish(shell).stopReason).toBe('completed');
  // What came later for the path finds it written; beside the sub-agent it would have run.
  expect(codesOf(shell)).toEqual({ a: 'ok', b: 'skipped_alternative', c: 'ok' });
});

test.each([
  ['began before a reset is waited for', true, undefined],
  ['never began is sealed at once', false, true],
])('In a run that stops, a sub-agent whose row is written and that %s.', (_, due, last) => {
  const shell = delegating([]);
  until(shell, 'tool_started');
  const run = shell.run as OpenRun;
  const [child] = run.children ?? [];
  const input = { v: 1, agent: 'case/r', task: { goal: 'Look.' } } as const;
  const children = [{ ...child!, stage: 'starting', due, input } as const];
  const step = tendChildren({ ...run, stopping: { reason: 'interrupted' }, children });
  const tended = step === 'hold' ? undefined : step?.run.children?.[0];
  expect(tended).toMatchObject({ stage: 'open', due: true });
  expect(tended?.last).toBe(last);
});

test('A run under older rules knows no signal of an end of a sub-agent.', () => {
  const raw = 'run_1:a1';
  const shell = delegating([]);
  until(shell, 'tool_started');
  const older = { ...shell.run, rules: 14 };
  expect(heard(older, { name: 'childEnded', raw, at: 1 })).toMatchObject({
    type: 'input_rejected',
    reason: "this workflow knows no signal 'childEnded'",
  });
  expect(heard({ ...older, rules: 15 }, { name: 'childEnded', raw, at: 1 }).type).toBe(
    'child_ended',
  );
});

/** What open sub-agents were told, in order. */
function told(shell: Shell) {
  return shell.effects.filter((effect) => effect.kind === 'tell_child');
}

test('A change of the mode and a message go down to an open sub-agent once, also over a segment.', () => {
  const shell = delegating([{ ms: 600_000 }]);
  untilOpen(shell);
  send(shell, { type: 'set_permission_mode', mode: 'plan' });
  send(shell, { type: 'user_message', text: 'Leave order 2.', id: 'm' });
  send(shell, { type: 'user_message', text: 'Leave order 2.', id: 'm' });
  const child = 'run_1:a1';
  const both = [
    { kind: 'tell_child', child, message: 'modes', modes: ['plan'] },
    { kind: 'tell_child', child, message: 'say', text: 'Leave order 2.', id: 'run_1:m0' },
  ];
  expect(told(shell)).toEqual(both);
  crossSegment(shell);
  expect(finish(shell).stopReason).toBe('completed');
  expect(told(shell)).toEqual(both);
});

test('A letter that the run reads is not told to its sub-agents; under rules 17 it was.', () => {
  const letters = [{ seq: 1, from: { run: 'run_1:a1', agent: 'case/r' }, text: 'Pay.' }];
  for (const [rules, count] of [
    [18, 0],
    [17, 1],
  ] as const) {
    const shell = delegating([{ ms: 600_000 }], { rules, letters });
    untilOpen(shell);
    send(shell, { type: 'mail' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'user_message').map(({ from }) => from?.agent)).toEqual(['case/r']);
    expect(told(shell)).toHaveLength(count);
  }
});

test('A run of older rules tells its sub-agents nothing while they work.', () => {
  const shell = delegating([{ ms: 600_000 }], { rules: 15 });
  untilOpen(shell);
  send(shell, { type: 'set_permission_mode', mode: 'plan' });
  send(shell, { type: 'user_message', text: 'Leave order 2.' });
  expect(finish(shell).stopReason).toBe('completed');
  expect(told(shell)).toEqual([]);
});
