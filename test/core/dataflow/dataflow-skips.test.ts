/** Dataflow: calls that are never executed, conditions, and the end of a run in the middle of a plan. */
import type { Json } from '../../../core/json/json.js';
import { contentOf, from, planned } from '../plan.js';
import { call, calls, flows, says, tool, TOOLBOX } from '../script.js';
import { codesOf, finish, ofType, requestsOf, send, settle, until, type Shell } from '../shell.js';

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
