/** Dataflow: calls of one reply that use each other's results (seed 003; scenarios S115 to S126). */
import type { Json } from '../../../core/json/json.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import { argsOf, contentOf, from, planned, traceOf } from '../plan.js';
import { call, calls, decisionOn, flows, says, tool, TOOLBOX } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  crossSegment,
  executedOf,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  started,
  until,
} from '../shell.js';

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

  test.each<[string, Json, boolean]>([
    ['that is there', { ok: 1 }, true],
    ['that is not what is wanted', { ok: 2 }, false],
  ])('a written path %s can be the evidence of an answer', (_what, value, enough) => {
    const predicate = { path: 'ok', equals: 1 };
    const shell = planned({
      task: { requiredEvidence: [{ id: 'fact', satisfiedBy: 'state.fact.found', predicate }] },
      model: [
        says('too early'),
        calls(flows('x', 'read_order', { orderId: '1', _outputPath: 'fact.found' })),
        says('now'),
      ],
      outcomes: { read_order: [{ ok: value }] },
    });
    expect(finish(shell).stopReason).toBe(enough ? 'completed' : 'evidence_missing');
    expect(shell.run.tally.evidenceRejections).toBe(1);
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

  test('a correction that is being checked loses its path as well, and its sender hears of it', () => {
    const shell = planned({
      model: [
        calls(
          flows('x', 'issue_refund', { amount: 1, _outputPath: 'r' }),
          flows('y', 'lookup_order', { orderId: '1', _outputPath: 'r' }),
        ),
        says('ok'),
      ],
      outcomes: { lookup_order: [{ ok: 1, delayMs: 1 }] },
    });
    until(shell, 'tool_started', { callId: 'y' });
    const modify = { decision: 'modify', args: { amount: 2 } } as const;
    const decision = decisionOn(askOf(shell), modify);
    send(shell, { type: 'decision', decision, ticket: 't' });
    expect(shell.run.turn?.calls[0]?.stage).toBe('checking');
    expect(finish(shell).counters.toolCalls).toBe(1);
    expect(codesOf(shell)).toEqual({ x: 'skipped_alternative', y: 'ok' });
    expect(shell.verdicts).toMatchObject([{ ticket: 't', verdict: { accepted: false } }]);
    expect(ofType(shell, 'approval_withdrawn')).toHaveLength(1);
  });

  test('a question of the model to a person is withdrawn when its path is written', () => {
    const tools = [...TOOLBOX, tool('x_ask', { kind: 'human_input', effect: 'none' })];
    const shell = planned({
      tools,
      model: [
        calls(
          flows('q', 'x_ask', { question: '?', _outputPath: 'r' }),
          flows('y', 'lookup_order', { orderId: '1', _outputPath: 'r' }),
        ),
        says('ok'),
      ],
    });
    expect(finish(shell).counters).toMatchObject({ toolCalls: 1, inputRequests: 1 });
    expect(codesOf(shell)).toEqual({ q: 'skipped_alternative', y: 'ok' });
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

  test('a read that got its approval does not join the one that runs for its path', () => {
    const shell = planned({
      policy: [{ tool: 'read_order', decision: 'ask' }],
      model: [alternatives, says('ok')],
      outcomes: { lookup_order: [{ error: 'no', delayMs: 50 }] },
    });
    until(shell, 'tool_started', { callId: 'y' });
    answer(shell);
    expect(traceOf(shell)).toBe('+y');
    finish(shell);
    expect(traceOf(shell)).toBe('+y -y +x -x');
  });

  test('whoever comes first in the reply is not overtaken while its references are resolved', () => {
    const shell = planned({
      model: [
        calls(flows('w', 'read_order', { orderId: '1', _outputPath: 'id' })),
        calls(
          flows('x', 'read_order', { orderId: from('id'), _outputPath: 'r' }),
          flows('y', 'lookup_order', { orderId: '1', _outputPath: 'r' }),
        ),
        says('ok'),
      ],
      outcomes: { read_order: [{ ok: 'O-1' }] },
    });
    finish(shell);
    expect(codesOf(shell)).toEqual({ w: 'ok', x: 'ok', y: 'skipped_alternative' });
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
    expect(requestsOf(shell).at(-1)?.dynamic?.join()).toContain('state.doc');
  });
});
