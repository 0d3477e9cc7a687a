import { viewOfRun } from '../../../core/loop/run-result.js';
import { isActivity, type ActivityEffect } from '../../../core/state/effect.js';
import { BATCH_BYTES_MAX, EVENTS_PER_BATCH, wholeEvents } from '../../../core/step/outbox.js';
import { call, calls, failure, says } from '../script.js';
import {
  answer,
  createShell,
  finish,
  ofType,
  post,
  send,
  settle,
  started,
  until,
  warningsOf,
  type Shell,
} from '../shell.js';

function reject(shell: Shell, reason: string): void {
  post(shell, { type: 'input_rejected', message: 'userMessage', reason });
}

function batchesOf(shell: Shell): readonly ActivityEffect['input'][] {
  return shell.effects.flatMap((effect) => (isActivity(effect) ? [effect.input] : []));
}

describe('events leave by the outbox', () => {
  test('with whatever effect starts next, without a gap, and again after a quick read', () => {
    const shell = createShell({ model: [calls(call('a', 'read_order')), says('ok')] });
    finish(shell);
    const stores = shell.effects.filter((effect) => effect.kind !== 'execute_tool');
    const carried = stores.flatMap((effect) =>
      isActivity(effect) ? wholeEvents(effect.input) : [],
    );
    expect(carried).toEqual(shell.events);
    expect(started(shell, 'flush')).toEqual([]);
  });

  test('by a flush when nothing else carries them, so that a question is seen', () => {
    const shell = settle(
      createShell({ model: [calls(call('a', 'issue_refund', {})), says('ok')] }),
    );
    expect(started(shell, 'flush')).toHaveLength(1);
    expect(shell.stored.at(-1)).toMatchObject({ type: 'approval_requested' });
    expect(shell.run.outbox.events).toEqual([]);
  });

  test('a flush that fails loses nothing and is repeated', () => {
    const model = [calls(call('a', 'issue_refund', {})), says('ok')];
    const shell = settle(createShell({ model, flushFailures: 3 }));
    expect(started(shell, 'flush')).toHaveLength(4);
    expect(shell.stored).toEqual(shell.events);
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('a model call that fails loses nothing', () => {
    const shell = createShell({ model: [failure('AuthError')] });
    finish(shell);
    expect(shell.stored).toEqual(shell.events);
  });

  test('at most 200 at a time', () => {
    const shell = createShell({ model: [says('ok')] });
    until(shell, 'session_init');
    for (let index = 0; index < 450; index += 1) reject(shell, `no ${index}`);
    finish(shell);
    const sizes = batchesOf(shell).map((batch) => batch.events.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(EVENTS_PER_BATCH);
    expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(2);
    expect(shell.stored).toEqual(shell.events);
  });

  test('at most 32 KiB at a time, counted as the wire counts them', () => {
    const shell = createShell({ model: [says('ok')] });
    until(shell, 'session_init');
    for (let index = 0; index < 150; index += 1) reject(shell, '語'.repeat(400));
    finish(shell);
    const sizes = batchesOf(shell).map((batch) => Buffer.byteLength(JSON.stringify(batch.events)));
    expect(Math.max(...sizes)).toBeGreaterThan(BATCH_BYTES_MAX / 2);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(BATCH_BYTES_MAX + EVENTS_PER_BATCH);
  });

  test('one effect at a time carries them', () => {
    const shell = createShell({ model: [calls(call('a', 'read_order')), says('ok')] });
    until(shell, 'tool_started');
    expect(shell.run.outbox.carrier).toBe('execute_tool-3');
    reject(shell, 'late');
    settle(shell);
    expect(warningsOf(shell)).toEqual(['rejected_userMessage']);
  });
});

describe('an effect that starts while events are under way', () => {
  test('carries none, and those that follow leave after them', () => {
    const model = [calls(call('a', 'issue_refund', {})), says('ok')];
    const shell = createShell({ model });
    until(shell, 'approval_requested');
    answer(shell);
    const [execution] = started(shell, 'execute_tool');
    expect(shell.run.outbox.carrier).toMatch(/^flush-/);
    expect(execution?.input.events).toEqual([]);
    expect(finish(shell).stopReason).toBe('completed');
  });
});

test('what comes back of nothing that is under way is a warning', () => {
  const shell = createShell({ model: [says('ok')] });
  until(shell, 'session_init');
  shell.inbox.push({ type: 'flushed', id: 'flush-9', output: { eventsUpTo: 99 }, at: shell.now });
  finish(shell);
  expect(warningsOf(shell)).toEqual(['late_input']);
  expect(shell.stored).toEqual(shell.events);
});

describe('the first event is session_init and the last is run_result', () => {
  test('also when the outside speaks before the run is open', () => {
    const shell = createShell({ model: [says('ok')] });
    reject(shell, 'too early');
    send(shell, { type: 'input_provided', askId: 'x', value: 1, by: 'pat' });
    finish(shell);
    expect(shell.events.map((event) => event.type).slice(0, 3)).toEqual([
      'session_init',
      'warning',
      'warning',
    ]);
    expect(ofType(shell, 'warning')[0]).toMatchObject({ message: 'too early' });
  });

  test('also when something comes back after the end was announced', () => {
    const shell = createShell({ model: [says('ok')] });
    until(shell, 'run_result');
    shell.inbox.push({ type: 'timer_fired', id: 'timer-99', at: shell.now });
    expect(finish(shell).trace.events).toBe(shell.events.length);
    expect(shell.events.at(-1)?.type).toBe('run_result');
  });

  test('a run that cannot be opened has none', () => {
    const { failure: refused } = failure('UnknownAgent');
    const shell = settle(createShell({ model: [], openFailures: { 0: refused } }));
    expect(shell.run.final).toMatchObject({ kind: 'refused', code: 'UnknownAgent' });
    expect(shell.events).toEqual([]);
    // Nothing else tells of it: the store has no row.
    expect(viewOfRun(shell.run)).toMatchObject({
      status: 'failed',
      refused: { code: 'UnknownAgent', message: expect.any(String) },
    });
  });
});
