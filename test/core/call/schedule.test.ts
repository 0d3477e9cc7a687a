/** Which calls run beside each other: batched mode, and what holds in every mode. */
import { traceOf } from '../plan.js';
import { call, calls, says, tool, TOOLBOX, type Script } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  send,
  settle,
  started,
  tick,
  until,
  type Shell,
} from '../shell.js';

const BATCHED = { toolExecution: 'batched' } as const;

function mostInFlight(shell: Shell): number {
  let now = 0;
  let most = 0;
  for (const event of traceOf(shell).split(' ')) {
    now += event.startsWith('+') ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

function batched(script: Partial<Script> & Pick<Script, 'model'>): Shell {
  return createShell({ ...script, settings: { ...BATCHED, ...script.settings } });
}

describe('batched: safe reads that follow each other run together', () => {
  const plan = [
    calls(
      call('a', 'read_order'),
      call('b', 'lookup_order'),
      call('c', 'write_note', {}),
      call('d', 'read_order'),
    ),
    says('ok'),
  ];

  test('S112: the write runs alone between them, results keep the order of the reply', () => {
    const shell = batched({ model: plan, outcomes: { read_order: [{ ok: 1, delayMs: 50 }] } });
    expect(finish(shell).stopReason).toBe('completed');
    expect(traceOf(shell)).toBe('+a +b -b -a +c -c +d -d');
    expect(ofType(shell, 'tool_results_message')[0]?.callIds).toEqual(['a', 'b', 'c', 'd']);
  });

  test('serial runs the same calls one by one', () => {
    const shell = createShell({ model: plan, outcomes: { read_order: [{ ok: 1, delayMs: 50 }] } });
    finish(shell);
    expect(traceOf(shell)).toBe('+a -a +b -b +c -c +d -d');
  });

  test('S79: never more of them than the budget allows', () => {
    const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => call(id, 'read_order', { orderId: id }));
    const shell = batched({
      model: [calls(...six), says('ok')],
      budget: { maxParallelToolCalls: 2 },
      outcomes: {
        read_order: [
          { ok: 1, delayMs: 30 },
          { ok: 2, delayMs: 10 },
        ],
      },
    });
    expect(finish(shell).counters.toolCalls).toBe(6);
    expect(mostInFlight(shell)).toBe(2);
    // The permission of a call that has no place yet is not looked at.
    const types = shell.events.map((event) => event.type);
    expect(types.indexOf('tool_finished')).toBeLessThan(types.lastIndexOf('permission'));
  });

  test('hooks are asked for no more calls than may run', () => {
    const reads = ['a', 'b', 'c'].map((id) => call(id, 'read_order', { orderId: id }));
    const shell = batched({
      model: [calls(...reads), says('ok')],
      budget: { maxParallelToolCalls: 2 },
      hookNames: { PreToolUse: ['guard'] },
    });
    until(shell, 'model_response');
    const asked = started(shell, 'run_hooks').filter(({ input }) => input.point === 'PreToolUse');
    expect(asked).toHaveLength(2);
    expect(finish(shell).counters.toolCalls).toBe(3);
  });

  test('a read that is not declared safe has the lane for itself', () => {
    const tools = [...TOOLBOX, tool('x_scan')];
    const model = [
      calls(call('a', 'read_order'), call('b', 'x_scan'), call('c', 'read_order')),
      says('ok'),
    ];
    const shell = batched({ model, tools });
    finish(shell);
    expect(traceOf(shell)).toBe('+a -a +b -b +c -c');
  });

  test('two effects never run together', () => {
    const model = [calls(call('a', 'write_note', {}), call('b', 'shell', {})), says('ok')];
    const shell = batched({ model, outcomes: { write_note: [{ ok: 1, delayMs: 90 }] } });
    finish(shell);
    expect(traceOf(shell)).toBe('+a -a +b -b');
  });

  test('a failing read stops none of the others', () => {
    const model = [calls(call('a', 'read_order'), call('b', 'lookup_order')), says('ok')];
    const shell = batched({ model, outcomes: { read_order: [{ error: 'no', delayMs: 20 }] } });
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: 'execution_error', b: 'ok' });
  });
});

describe('batched: a call that waits for a person', () => {
  test('S52: holds back what comes after it, not what came before', () => {
    const model = [
      calls(
        call('a', 'read_order'),
        call('b', 'issue_refund', {}),
        call('c', 'read_order', { orderId: '2' }),
      ),
      says('ok'),
    ];
    const shell = settle(batched({ model }));
    expect(codesOf(shell)).toEqual({ a: 'ok' });
    expect(askOf(shell).callId).toBe('b');
    answer(shell);
    finish(shell);
    expect(traceOf(shell)).toBe('+a -a +b -b +c -c');
  });

  test('lets the reads beside it go on', () => {
    const shell = settle(
      batched({
        model: [calls(call('a', 'lookup_order'), call('b', 'read_order')), says('ok')],
        policy: [{ tool: 'lookup_order', decision: 'ask' }],
      }),
    );
    expect(codesOf(shell)).toEqual({ b: 'ok' });
    answer(shell);
    finish(shell);
    expect(traceOf(shell)).toBe('+b -b +a -a');
    expect(ofType(shell, 'tool_results_message')[0]?.callIds).toEqual(['a', 'b']);
  });

  test('several questions of one batch are open at once', () => {
    const shell = settle(
      batched({
        model: [calls(call('a', 'lookup_order'), call('b', 'read_order')), says('ok')],
        policy: [
          { tool: '*order', decision: 'ask' },
          { tool: 'l*', decision: 'ask' },
          { tool: 'r*', decision: 'ask' },
        ],
      }),
    );
    expect(ofType(shell, 'approval_requested').map((ask) => ask.callId)).toEqual(['a', 'b']);
  });
});

describe('calls under way when the run stops', () => {
  const three = [
    calls(call('a', 'read_order'), call('b', 'lookup_order'), call('c', 'write_note', {})),
    says('ok'),
  ];

  test('S133: an interrupt ends all that runs, the rest never starts', () => {
    const outcomes = { read_order: [{ hang: true }], lookup_order: [{ ok: 1 }] } as const;
    const shell = batched({ model: three, outcomes });
    until(shell, 'tool_finished', { callId: 'b' });
    send(shell, { type: 'interrupt' });
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'tools' });
    expect(codesOf(shell)).toEqual({
      a: 'interrupted_mid_execution',
      b: 'ok',
      c: 'interrupted_mid_execution',
    });
    expect(executedOf(shell)).toHaveLength(2);
    const synthetic = ofType(shell, 'tool_finished').filter((event) => event.synthetic);
    expect(synthetic.map(({ callId, started: begun }) => [callId, begun])).toEqual([
      ['a', true],
      ['c', false],
    ]);
  });

  test('S135: after an interrupt between two calls the second does not start', () => {
    const shell = batched({ model: three });
    until(shell, 'tool_started', { callId: 'b' });
    send(shell, { type: 'interrupt' });
    finish(shell);
    expect(executedOf(shell).map((one) => one.split(' ')[0])).toEqual(['a', 'b']);
  });

  test('a breaker that opens lets the others finish, and keeps their results', () => {
    const shell = batched({
      model: three,
      settings: { onToolFailure: { mode: 'stop', threshold: 1, outcome: 'tool_failure' } },
      outcomes: { read_order: [{ error: 'no' }], lookup_order: [{ ok: 1, delayMs: 500 }] },
    });
    expect(finish(shell).stopReason).toBe('tool_failure');
    expect(codesOf(shell)).toEqual({ a: 'execution_error', b: 'ok', c: 'not_executed' });
  });

  test('the cap on calls counts those that run', () => {
    const reads = ['a', 'b', 'c'].map((id) => call(id, 'read_order', { orderId: id }));
    const shell = batched({ model: [calls(...reads)], budget: { maxToolCalls: 2 } });
    expect(finish(shell)).toMatchObject({
      stopReason: 'max_tool_calls',
      counters: { toolCalls: 2 },
    });
    expect(codesOf(shell)).toEqual({ a: 'ok', b: 'ok', c: 'budget_exceeded' });
  });

  test('a segment ends when all that runs is back, and the turn goes on in the next', () => {
    const shell = batched({ model: three, outcomes: { read_order: [{ ok: 1, delayMs: 80 }] } });
    until(shell, 'tool_finished', { callId: 'b' });
    send(shell, { type: 'segment_full' });
    while (shell.run.final === undefined) tick(shell);
    expect(codesOf(shell)).toEqual({ b: 'ok' });
    expect(shell.run.turn?.calls.map((one) => one.stage)).toEqual([
      'returned',
      'settled',
      'proposed',
    ]);
    expect(started(shell, 'execute_tool')).toHaveLength(2);
  });
});
