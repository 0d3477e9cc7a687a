/** Whose workers run a tool: its queue is frozen with it, and chosen in the run. */
import { failureOf, type Failure } from '../../../core/state/failure.js';
import { CHANGES, RULES_VERSION } from '../../../core/step/changes.js';
import { call, calls, says, tool, type Script } from '../script.js';
import {
  askOf,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  settle,
  started,
  warningsOf,
  type Shell,
} from '../shell.js';

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

describe('calls in a sandbox whose tool names no queue', () => {
  const named = tool('x_named', { ...SANDBOXED, sandbox: 'required', sandboxQueue: 'jail' });
  const plain = tool('x_shell', { ...SANDBOXED, sandbox: 'optional', probes: true });
  const policy = [{ tool: '*', decision: 'sandbox' }] as const;
  const sandboxQueue = 'runs.sandbox';
  const lost = {
    outcomes: { x_shell: [{ ambiguous: 'cut' }] },
    findings: [{ kind: 'not_happened' }],
  } as const;

  function shell(script: Partial<Script> = {}, name = 'x_shell'): Shell {
    const model = [calls(call('a', name, {})), says('ok')];
    return settle(createShell({ tools: [named, plain], policy, model, sandboxQueue, ...script }));
  }

  test('go to the sandbox queue of the run, and so does what finds out how they ended', () => {
    expect(queueOf(shell())).toBe(sandboxQueue);
    expect(started(shell(lost), 'reconcile_tool')[0]!.queue).toBe(sandboxQueue);
    expect(queueOf(shell({}, 'x_named'))).toBe('jail');
  });

  test('wait there as long as for other code that nobody serves', () => {
    expect(started(shell(), 'execute_tool')[0]!.limits.queuedMs).toBe(24 * 3_600_000);
  });

  test('stay with the run where it has none, outside of a sandbox, and under older rules', () => {
    expect(queueOf(shell({ sandboxQueue: undefined }))).toBeUndefined();
    expect(queueOf(shell({ policy: [] }))).toBeUndefined();
    const rules = CHANGES.sandboxQueues.since - 1;
    expect(queueOf(shell({ rules }))).toBeUndefined();
    expect(started(shell({ ...lost, rules }), 'reconcile_tool')[0]).not.toHaveProperty('queue');
  });
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

describe('a queue on which nobody works', () => {
  const HOUR_MS = 3_600_000;
  const settings = { unservedTimeoutMs: HOUR_MS };
  const policy = [{ tool: '*', decision: 'allow' }] as const;
  const TOOL_CALL = { type: null, timedOut: true, timeoutType: 'SCHEDULE_TO_START' } as const;
  const untaken = failureOf(TOOL_CALL, { attemptMs: 1_000, queuedMs: HOUR_MS });
  const heard = failureOf(
    { ...TOOL_CALL, progress: { claimed: 1 } },
    { attemptMs: 1_000, queuedMs: HOUR_MS },
  );
  const notHappened = [{ kind: 'not_happened' }] as const;

  function waited(name: string, script: Partial<Script> = {}): Shell {
    const model = [calls(call('a', name, {})), says('ok')];
    const outcomes = { [name]: [{ failure: untaken }] };
    return settle(createShell({ tools: TOOLS, policy, model, settings, outcomes, ...script }));
  }

  test('is waited for no longer than other code that nobody serves', () => {
    const shell = ran('x_heavy');
    expect(started(shell, 'execute_tool')[0]!.limits.queuedMs).toBe(24 * HOUR_MS);
    const findings = notHappened;
    const lost = waited('x_heavy', { outcomes: { x_heavy: [{ ambiguous: 'cut' }] }, findings });
    expect(started(lost, 'reconcile_tool')[0]!.limits.queuedMs).toBe(HOUR_MS);
  });

  test('has no limit where the run works, or under older rules', () => {
    expect(started(ran('x_plain'), 'execute_tool')[0]!.limits).not.toHaveProperty('queuedMs');
    const rules = CHANGES.queuesLimited.since - 1;
    const older = started(ran('x_heavy', { rules }), 'execute_tool')[0]!;
    expect(older.queue).toBe('heavy');
    expect(older.limits).not.toHaveProperty('queuedMs');
  });

  test('makes a call unavailable once the ledger says that nothing was done', () => {
    const shell = waited('x_heavy', { findings: notHappened });
    const [finding] = started(shell, 'reconcile_tool');
    expect(finding).not.toHaveProperty('queue');
    expect(finding!.input).toMatchObject({ ledgerOnly: true });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
    expect(codesOf(shell)).toEqual({ a: 'tool_unavailable' });
    const [result] = ofType(shell, 'tool_finished');
    expect(result).toMatchObject({ attempts: 0 });
    expect(JSON.stringify(shell.events)).toContain('queue heavy');
    expect(warningsOf(shell)).toEqual(['queue_unserved']);
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('makes a read unavailable at once', () => {
    const tools = [tool('x_look', { queue: 'heavy' })];
    const shell = waited('x_look', { tools });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
    expect(codesOf(shell)).toEqual({ a: 'tool_unavailable' });
    expect(started(shell, 'reconcile_tool')).toEqual([]);
  });

  test('ends the run whose task needs the tool', () => {
    const requiredEvidence = [{ id: 'done', satisfiedBy: 'x_jailed' }];
    const sandbox = [{ tool: '*', decision: 'sandbox' }] as const;
    const shell = waited('x_jailed', {
      policy: sandbox,
      findings: notHappened,
      task: { requiredEvidence },
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'tool_unavailable' });
    expect(JSON.stringify(shell.events)).toContain('queue jail');
  });

  test('leaves what an earlier delivery may have done to a person', () => {
    const findings = [{ kind: 'unknown', message: 'burned' }] as const;
    const shell = waited('x_heavy', { outcomes: { x_heavy: [{ failure: heard }] }, findings });
    expect(askOf(shell)).toMatchObject({ kind: 'outcome' });
  });

  test('leaves it to the ledger, and then to a person, what became of a call there', () => {
    const outcomes = { x_heavy: [{ ambiguous: 'cut off' }] };
    const findings = [{ failure: untaken }, { kind: 'unknown', message: 'burned' }] as const;
    const shell = waited('x_heavy', { outcomes, findings });
    const found = started(shell, 'reconcile_tool');
    expect(found.map(({ queue }) => queue)).toEqual(['heavy', undefined]);
    expect(askOf(shell)).toMatchObject({ kind: 'outcome' });
  });

  test('costs nothing of what was reserved, unless a delivery was heard of', () => {
    const dear = { effect: 'write', idempotency: 'keyed', queue: 'heavy' } as const;
    const tools = [tool('x_dear', { ...dear, maxCostMicroUsd: 5_000 })];
    const costOf = (failure: Failure): number => {
      const shell = waited('x_dear', {
        tools,
        outcomes: { x_dear: [{ failure }] },
        findings: notHappened,
      });
      return finish(shell).costMicroUsd;
    };
    // The bound of both attempts that the tool may have.
    expect(costOf(heard) - costOf(untaken)).toBe(10_000);
  });
});
