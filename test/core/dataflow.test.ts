/** Dataflow: calls of one reply that use each other's results (seed 003; scenarios S115 to S126). */
import type { Json } from '../../core/json.js';
import { stateLines } from '../../core/call/state.js';
import { call, calls, decisionOn, flows, says, tool, TOOLBOX, type Script } from './script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  started,
  until,
  type Shell,
} from './shell.js';
import { viewOfRun } from '../../core/run-result.js';

const from = (path: string): Json => ({ $from: `state.${path}` });

function planned(script: Partial<Script> & Pick<Script, 'model'>): Shell {
  const settings = { toolExecution: 'dataflow', ...script.settings } as const;
  return createShell({ ...script, settings });
}

function traceOf(shell: Shell): string {
  return shell.events
    .flatMap((event) => {
      if (event.type === 'tool_started') return [`+${event.callId}`];
      return event.type === 'tool_finished' && event.started ? [`-${event.callId}`] : [];
    })
    .join(' ');
}

function contentOf(shell: Shell, callId: string): unknown {
  const event = ofType(shell, 'tool_finished').find((one) => one.callId === callId);
  return event && 'text' in event.content ? JSON.parse(event.content.text) : undefined;
}

function argsOf(shell: Shell, callId: string): unknown {
  return ofType(shell, 'tool_started').find((event) => event.callId === callId)?.args;
}

describe('a call waits for what it needs', () => {
  test('S115: its references are resolved when their values are there', () => {
    const shell = planned({
      model: [
        calls(
          flows('y', 'read_delivery_status', { orderId: from('p.id') }),
          flows('x', 'read_order', { orderId: '1', _outputPath: 'state.p' }),
        ),
        says('done'),
      ],
      outcomes: { read_order: [{ ok: { id: 'O-7' }, delayMs: 20 }] },
    });
    expect(finish(shell).stopReason).toBe('completed');
    expect(traceOf(shell)).toBe('+x -x +y -y');
    expect(argsOf(shell, 'y')).toEqual({ orderId: 'O-7' });
    expect(requestsOf(shell)).toHaveLength(2);
    const results = requestsOf(shell)[1]?.append.find((item) => item.kind === 'results');
    expect(results).toMatchObject({ results: [{ callId: 'y' }, { callId: 'x' }] });
    expect(ofType(shell, 'tool_finished').find(({ callId }) => callId === 'x')?.path).toBe('p');
  });

  test('what is granted is what is executed, not what was proposed', () => {
    const shell = planned({
      model: [
        calls(
          flows('x', 'read_order', { orderId: '1', _outputPath: 'sum' }),
          flows('y', 'issue_refund', { amount: from('sum') }),
        ),
        says('ok'),
      ],
      outcomes: { read_order: [{ ok: 25 }] },
    });
    settle(shell);
    expect(askOf(shell)).toMatchObject({ callId: 'y', args: { amount: 25 } });
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
    expect(argsOf(shell, 'y')).toEqual({ amount: 25 });
  });

  test('S116: calls that need nothing of each other overlap', () => {
    const shell = planned({
      model: [
        calls(flows('x', 'read_order', { orderId: '1' }), call('z', 'lookup_order')),
        says(''),
      ],
    });
    finish(shell);
    expect(traceOf(shell)).toMatch(/^\+x \+z/);
  });

  test('S126: two effects run one after the other, and a read does not run beside one', () => {
    const shell = planned({
      model: [
        calls(
          call('r', 'read_order'),
          call('v', 'write_note', {}),
          call('w', 'write_note', { text: 'b' }),
        ),
        says('ok'),
      ],
      outcomes: { read_order: [{ ok: 1, delayMs: 30 }] },
    });
    finish(shell);
    expect(traceOf(shell)).toBe('+r -r +v -v +w -w');
  });

  test('_dependsOn orders calls without handing anything over', () => {
    const shell = planned({
      model: [
        calls(
          flows('b', 'read_order', { orderId: '1', _dependsOn: ['a'] }),
          call('a', 'lookup_order'),
        ),
        says('ok'),
      ],
    });
    finish(shell);
    expect(traceOf(shell)).toBe('+a -a +b -b');
  });

  test('never more at once than the budget allows, resolutions included', () => {
    const reads = ['a', 'b', 'c', 'd'].map((id) =>
      flows(id, 'read_order', { orderId: from('id'), note: id }),
    );
    const shell = planned({
      budget: { maxParallelToolCalls: 2 },
      model: [
        calls(flows('x', 'lookup_order', { orderId: '1', _outputPath: 'id' }), ...reads),
        says('ok'),
      ],
      outcomes: { lookup_order: [{ ok: 'O-1' }] },
    });
    until(shell, 'tool_finished', { callId: 'x' });
    expect(Object.keys(shell.run.inflight).filter((id) => id.startsWith('check'))).toHaveLength(2);
    expect(finish(shell).counters.toolCalls).toBe(5);
  });
});

describe('a path is written once', () => {
  const alternatives = calls(
    flows('x', 'read_order', { orderId: '1', _outputPath: 'state.r' }),
    flows('y', 'lookup_order', { orderId: '1', _outputPath: 'state.r' }),
  );

  test('S117: of two calls for one path the first that succeeds is the only one', () => {
    const shell = planned({
      model: [alternatives, says('ok')],
      outcomes: { read_order: [{ ok: 'first', delayMs: 99 }] },
    });
    expect(finish(shell).counters).toMatchObject({ toolCalls: 1, skippedCalls: 1 });
    expect(codesOf(shell)).toEqual({ x: 'ok', y: 'skipped_alternative' });
    expect(contentOf(shell, 'y')).toMatchObject({
      status: 'skipped',
      reason: 'skipped_alternative',
      path: 'state.r',
    });
    expect(shell.run.state).toEqual({ r: { text: 'first' } });
  });

  test('a failure leaves the path to the next one', () => {
    const shell = planned({
      model: [alternatives, says('ok')],
      outcomes: { read_order: [{ error: 'no' }], lookup_order: [{ ok: 'second' }] },
    });
    expect(finish(shell).counters.toolCalls).toBe(2);
    expect(shell.run.state).toEqual({ r: { text: 'second' } });
  });

  test('nobody takes the place of a call of which nobody knows whether it happened', () => {
    const shell = planned({
      settings: { onOutcomeUnknown: 'observe' },
      model: [
        calls(
          flows('x', 'write_note', { _outputPath: 'r' }),
          flows('y', 'write_note', { text: 'b', _outputPath: 'r' }),
        ),
        says('ok'),
      ],
      outcomes: { write_note: [{ ambiguous: 'reset' }] },
      findings: [{ kind: 'unknown', message: '?' }],
    });
    finish(shell);
    expect(codesOf(shell)).toEqual({ x: 'outcome_unknown', y: 'skipped_alternative' });
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('S119: a later request cannot write it again', () => {
    const again = calls(flows('z', 'lookup_order', { orderId: '1', _outputPath: 'r.below' }));
    const first = calls(flows('x', 'read_order', { orderId: '1', _outputPath: 'r' }));
    const shell = planned({
      model: [first, again, says('ok')],
      outcomes: { read_order: [{ ok: 'kept' }] },
    });
    finish(shell);
    expect(codesOf(shell)).toEqual({ x: 'ok', z: 'skipped_alternative' });
    expect(shell.run.state).toEqual({ r: { text: 'kept' } });
  });

  test('a question to a person holds no path, and goes when another call has written it', () => {
    const shell = planned({
      model: [
        calls(
          flows('x', 'issue_refund', { _outputPath: 'r' }),
          flows('y', 'lookup_order', { orderId: '1', _outputPath: 'r' }),
        ),
        says('ok'),
      ],
    });
    finish(shell);
    expect(codesOf(shell)).toEqual({ x: 'skipped_alternative', y: 'ok' });
    expect(ofType(shell, 'approval_withdrawn')).toMatchObject([{ callId: 'x' }]);
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('of two approved alternatives only one runs', () => {
    const shell = planned({
      model: [
        calls(
          flows('x', 'issue_refund', { amount: 1, _outputPath: 'r' }),
          flows('y', 'send_email', { text: 'b', _outputPath: 'r' }),
        ),
        says('ok'),
      ],
      outcomes: { send_email: [{ ok: 1, delayMs: 40 }] },
    });
    settle(shell);
    const asks = viewOfRun(shell.run).asks;
    expect(asks.map((ask) => ask.callId)).toEqual(['x', 'y']);
    send(shell, { type: 'decision', decision: decisionOn(asks[1]!) });
    send(shell, { type: 'decision', decision: decisionOn(asks[0]!) });
    expect(finish(shell).counters.toolCalls).toBe(1);
    expect(codesOf(shell)).toEqual({ x: 'skipped_alternative', y: 'ok' });
  });

  test('a large value is kept whole for later calls, by reference', () => {
    const whole = JSON.stringify({ id: 'O-9', text: 'x'.repeat(500) });
    const stored = { $blob: 'c'.repeat(64), bytes: whole.length, preview: 'x' };
    const model = [
      calls(flows('x', 'read_order', { orderId: '1', _outputPath: 'doc' })),
      calls(flows('y', 'lookup_order', { orderId: from('doc.id') })),
      says('ok'),
    ];
    const shell = planned({
      model,
      outcomes: { read_order: [{ stored }] },
      blobs: { [stored.$blob]: whole },
    });
    until(shell, 'transition');
    crossSegment(shell);
    expect(finish(shell).stopReason).toBe('completed');
    expect(argsOf(shell, 'y')).toEqual({ orderId: 'O-9' });
    expect(shell.run.state).toEqual({ doc: { $blob: stored.$blob, bytes: stored.bytes } });
    const [first] = started(shell, 'execute_tool');
    expect(first?.input.inlineBytesMax).toBe(256);
    expect(stateLines(shell.run)).toEqual([`state.doc: ${whole.length} bytes`]);
  });
});

describe('what can never run is skipped', () => {
  test('S121: a reference that nothing will fill', () => {
    const shell = planned({
      model: [calls(flows('y', 'read_order', { orderId: from('nowhere') })), says('replanned')],
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', counters: { skippedCalls: 1 } });
    expect(codesOf(shell)).toEqual({ y: 'skipped_unresolvable' });
    expect(contentOf(shell, 'y')).toMatchObject({ path: 'state.nowhere' });
    expect(requestsOf(shell)).toHaveLength(2);
  });

  test('a reference into a value that has no such part', () => {
    const shell = planned({
      model: [
        calls(
          flows('x', 'read_order', { orderId: '1', _outputPath: 'p' }),
          flows('y', 'read_order', { orderId: from('p.missing') }),
        ),
        says('ok'),
      ],
    });
    finish(shell);
    expect(codesOf(shell)).toEqual({ x: 'ok', y: 'skipped_unresolvable' });
  });

  test('S123: what depends on a failed call, and what depends on that', () => {
    const shell = planned({
      model: [
        calls(
          flows('x', 'read_order', { orderId: '1', _outputPath: 'p' }),
          flows('y', 'lookup_order', { orderId: from('p'), _outputPath: 'q' }),
          flows('z', 'lookup_order', { orderId: from('q') }),
          flows('w', 'lookup_order', { orderId: '1', _dependsOn: ['z'] }),
        ),
        says('ok'),
      ],
      outcomes: { read_order: [{ error: 'no' }] },
    });
    expect(finish(shell).counters).toMatchObject({ toolCalls: 1, skippedCalls: 3 });
    expect(codesOf(shell)).toEqual({
      x: 'execution_error',
      y: 'skipped_dependency_failed',
      z: 'skipped_dependency_failed',
      w: 'skipped_dependency_failed',
    });
  });

  test('S124: nobody is asked about a call whose producer failed', () => {
    const plan = calls(
      flows('x', 'read_order', { orderId: '1', _outputPath: 'p' }),
      flows('y', 'issue_refund', { note: from('p') }),
    );
    const failing = planned({
      model: [plan, says('')],
      outcomes: { read_order: [{ error: 'no' }] },
    });
    finish(failing);
    expect(ofType(failing, 'approval_requested')).toEqual([]);
    const shell = settle(planned({ model: [plan, says('')] }));
    const types = shell.events.map((event) => event.type);
    expect(types.indexOf('approval_requested')).toBeGreaterThan(types.indexOf('tool_finished'));
  });

  test('a call that waits for an unknown one', () => {
    const shell = planned({
      model: [calls(flows('y', 'read_order', { orderId: '1', _dependsOn: ['q'] })), says('ok')],
    });
    finish(shell);
    expect(codesOf(shell)).toEqual({ y: 'skipped_unresolvable' });
  });

  test('a circle is refused before anything runs, and its neighbours are not', () => {
    const shell = planned({
      model: [
        calls(
          flows('a', 'read_order', { orderId: from('b'), _outputPath: 'a' }),
          flows('b', 'read_order', { orderId: from('a'), _outputPath: 'b' }),
          flows('self', 'read_order', { orderId: '1', _dependsOn: ['self'] }),
          flows('c', 'lookup_order', { orderId: from('a') }),
          call('free', 'lookup_order'),
        ),
        says('ok'),
      ],
      budget: { maxInvalidProposals: 'unlimited' },
    });
    expect(finish(shell).counters).toMatchObject({ toolCalls: 1, invalidCalls: 3 });
    expect(codesOf(shell)).toEqual({
      a: 'invalid_arguments',
      b: 'invalid_arguments',
      self: 'invalid_arguments',
      c: 'skipped_dependency_failed',
      free: 'ok',
    });
  });

  test('a value that the schema refuses', () => {
    const shell = planned({
      model: [
        calls(
          flows('x', 'search_refund_policy', { _outputPath: 'p' }),
          flows('y', 'read_order', { orderId: from('p') }),
        ),
        says('ok'),
      ],
      outcomes: { search_refund_policy: [{ ok: ' ' }] },
    });
    finish(shell);
    expect(codesOf(shell)).toEqual({ x: 'ok', y: 'invalid_arguments' });
  });
});

describe('a condition', () => {
  function branches(value: Json): Shell {
    const shell = planned({
      model: [
        calls(
          flows('x', 'read_order', { orderId: '1', _outputPath: 'kind' }),
          flows('small', 'lookup_order', { orderId: '1', _when: { path: 'state.kind', lte: 10 } }),
          flows('large', 'lookup_order', { orderId: '2', _when: { path: 'kind', gte: 11 } }),
          flows('none', 'lookup_order', { orderId: '3', _when: { path: 'other', exists: false } }),
        ),
        says('ok'),
      ],
      outcomes: { read_order: [{ ok: value }] },
    });
    finish(shell);
    return shell;
  }

  test('chooses between branches', () => {
    const chosen = { x: 'ok', none: 'ok' };
    expect(codesOf(branches(5))).toEqual({ ...chosen, small: 'ok', large: 'skipped_alternative' });
    expect(codesOf(branches(50))).toEqual({ ...chosen, small: 'skipped_alternative', large: 'ok' });
  });

  test('on a large value is judged where the value is', () => {
    const stored = { $blob: 'd'.repeat(64), bytes: 900, preview: '' };
    const shell = planned({
      model: [
        calls(
          flows('x', 'read_order', { orderId: '1', _outputPath: 'doc' }),
          flows('y', 'lookup_order', {
            orderId: '1',
            _when: { path: 'doc.state', equals: 'open' },
          }),
          flows('z', 'lookup_order', {
            orderId: '2',
            _when: { path: 'doc.state', equals: 'shut' },
          }),
        ),
        says('ok'),
      ],
      outcomes: { read_order: [{ stored }] },
      blobs: { [stored.$blob]: '{"state":"open"}' },
    });
    finish(shell);
    expect(codesOf(shell)).toEqual({ x: 'ok', y: 'ok', z: 'skipped_alternative' });
  });

  test('"unless it is written" makes a fallback', () => {
    const plan = calls(
      flows('x', 'read_order', { orderId: '1', _outputPath: 'r' }),
      flows('y', 'lookup_order', {
        orderId: '1',
        _outputPath: 'r',
        _when: { path: 'r', exists: false },
      }),
    );
    const shell = planned({ model: [plan, says('')], outcomes: { read_order: [{ error: 'no' }] } });
    finish(shell);
    expect(codesOf(shell)).toEqual({ x: 'execution_error', y: 'ok' });
  });
});

describe('a run that stops in the middle of a plan', () => {
  test('ends a resolution, and gives every call its result', () => {
    const shell = planned({
      model: [
        calls(
          flows('x', 'read_order', { orderId: '1', _outputPath: 'p' }),
          flows('y', 'lookup_order', { orderId: from('p') }),
        ),
      ],
      outcomes: { read_order: [{ ok: 'O-1' }] },
    });
    until(shell, 'tool_finished', { callId: 'x' });
    expect(shell.run.turn?.calls[1]?.stage).toBe('checking');
    send(shell, { type: 'interrupt' });
    expect(finish(shell).stopReason).toBe('interrupted');
    expect(codesOf(shell)).toEqual({ x: 'ok', y: 'interrupted_mid_execution' });
  });

  test('a full state takes no more paths', () => {
    const model = Array.from({ length: 26 }, (_, turn) =>
      calls(
        ...[0, 1, 2, 3].map((index) =>
          flows(`c${turn}_${index}`, 'x_free', {
            n: turn * 4 + index,
            _outputPath: `p${turn}_${index}`,
          }),
        ),
      ),
    );
    const tools = [...TOOLBOX, tool('x_free', { effect: 'none', concurrencySafe: true })];
    const shell = planned({
      model: [...model, says('ok')],
      tools,
      budget: {
        maxTurns: 'unlimited',
        maxToolCalls: 'unlimited',
        maxInvalidProposals: 'unlimited',
      },
    });
    expect(finish(shell).counters).toMatchObject({ toolCalls: 100, invalidCalls: 4 });
    expect(Object.keys(shell.run.state ?? {})).toHaveLength(100);
  });
});
