/** A run that waits for people behind a long segment waits in a new one. */
import { from } from '../plan.js';
import { call, calls, decisionOn, flows, says, tool, TOOLBOX, type Script } from '../script.js';
import {
  activate,
  answer,
  askOf,
  codesOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  pass,
  post,
  requestsOf,
  send,
  settle,
  started,
  tick,
  transitionsOf,
  until,
  type Shell,
} from '../shell.js';

const HOUR = 3_600_000;
const LONG = 31;
const SHORT = 28;
const reads = (turns: number, name = 'r') =>
  Array.from({ length: turns }, (_, n) =>
    calls(call(`${name}${n}`, 'read_order', { orderId: `${name}${n}` })),
  );
const REFUND = calls(call('pay', 'issue_refund', { amount: 5 }));
const BUDGET = {
  maxTurns: 1_000,
  maxToolCalls: 1_000,
  maxInputTokens: 'unlimited',
  maxOutputTokens: 'unlimited',
  maxCostMicroUsd: 'unlimited',
} as const;

function script(model: Script['model'], more: Partial<Script> = {}): Script {
  return { budget: BUDGET, model, ...more };
}

const ASKS_LATE = script([...reads(LONG), REFUND, says('done')]);

function goesOver({ run }: Shell): boolean {
  return run.final?.kind === 'continue_as_new';
}

describe('a question behind long work', () => {
  test('is told first, then the run goes over with the question, and the call executes once', () => {
    const shell = createShell(ASKS_LATE);
    until(shell, 'approval_requested');
    expect(goesOver(shell)).toBe(false);
    settle(shell);
    expect(shell.stored.at(-1)?.type).toBe('approval_requested');
    expect(goesOver(shell)).toBe(true);
    const asked = askOf(shell);
    crossSegment(shell);
    settle(shell);
    expect(goesOver(shell)).toBe(false);
    expect(askOf(shell)).toEqual(asked);
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell).at(-1)).toBe(`pay issue_refund case:${LONG} 1`);
    expect(ofType(shell, 'approval_requested')).toHaveLength(1);
    const [transition] = ofType(shell, 'transition').filter(
      ({ reason }) => reason === 'continued_as_new',
    );
    expect(transition?.stamp.rule).toBe('segment full');
  });

  test('under rules 20 leaves the run in its segment', () => {
    const shell = settle(createShell({ ...ASKS_LATE, rules: 20 }));
    expect(askOf(shell).tool).toBe('issue_refund');
    expect(goesOver(shell)).toBe(false);
  });

  test.each([
    ['no', { decision: 'reject' } as const, 'approval_rejected'],
    ['another amount', { decision: 'modify', args: { amount: 4 } } as const, 'ok'],
  ])('is answered with %s in the new segment', (_, decision, code) => {
    const shell = settle(createShell(ASKS_LATE));
    crossSegment(shell);
    answer(shell, decision);
    finish(shell);
    expect(codesOf(shell)['pay']).toBe(code);
  });

  test('expires in the new segment when it would have', () => {
    const settings = { approvalTimeoutMs: HOUR };
    const shell = settle(createShell({ ...ASKS_LATE, settings }));
    const { expiresAt } = askOf(shell);
    pass(shell, HOUR / 2);
    crossSegment(shell);
    expect(finish(shell).detail).toBe('approval_timeout');
    expect(ofType(shell, 'approval_resolved')[0]?.stamp.at).toBe(expiresAt);
  });

  test('that is answered together with the store’s receipt keeps the run where it is', () => {
    const shell = createShell(ASKS_LATE);
    until(shell, 'approval_requested');
    post(shell, { type: 'decision', decision: decisionOn(askOf(shell), { decidedAt: shell.now }) });
    while (executedOf(shell).length <= LONG && tick(shell));
    expect(finish(shell).stopReason).toBe('completed');
    expect(transitionsOf(shell)).not.toContain('continued_as_new');
  });

  test('that is answered while the new segment opens counts', () => {
    const shell = settle(createShell(ASKS_LATE));
    const decision = decisionOn(askOf(shell), { decidedAt: shell.now });
    crossSegment(shell);
    send(shell, { type: 'decision', decision });
    expect(executedOf(shell)).toHaveLength(LONG);
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(LONG + 1);
  });
});

test('a short segment asks where it is', () => {
  const shell = settle(createShell(script([...reads(SHORT), REFUND])));
  expect(askOf(shell).tool).toBe('issue_refund');
  expect(goesOver(shell)).toBe(false);
});

test('nothing that only waits fills a segment again: votes, refused words and time', () => {
  const twoPeople = TOOLBOX.map((one) =>
    one.name === 'issue_refund'
      ? tool('issue_refund', {
          effect: 'financial',
          idempotency: 'keyed',
          approval: { roles: [], quorum: 2 },
        })
      : one,
  );
  const shell = settle(createShell({ ...ASKS_LATE, tools: twoPeople }));
  crossSegment(shell);
  settle(shell);
  for (let word = 0; word < 10; word += 1) {
    send(shell, { type: 'input_rejected', message: 'signal', reason: `noise ${word}` });
    settle(shell);
  }
  answer(shell, { by: 'ada' });
  settle(shell);
  expect(goesOver(shell)).toBe(false);
  answer(shell, { by: 'ben' });
  expect(finish(shell).stopReason).toBe('completed');
  expect(transitionsOf(shell).filter((reason) => reason === 'continued_as_new')).toHaveLength(1);
});

test('a run goes over again only behind as much work again', () => {
  const again = calls(call('pay2', 'issue_refund', { amount: 6 }));
  const late = calls(call('pay3', 'issue_refund', { amount: 7 }));
  const model = [...reads(LONG), REFUND, again, ...reads(LONG, 'later'), late, says('done')];
  const shell = settle(createShell(script(model)));
  crossSegment(shell);
  settle(shell);
  answer(shell);
  settle(shell);
  expect(askOf(shell).args).toEqual({ amount: 6 });
  expect(goesOver(shell)).toBe(false);
  answer(shell);
  settle(shell);
  expect(askOf(shell).args).toEqual({ amount: 7 });
  expect(goesOver(shell)).toBe(true);
  crossSegment(shell);
  answer(shell);
  expect(finish(shell).stopReason).toBe('completed');
});

test('a call beside the question ends first, and so does the call that waits for its result', () => {
  const beside = calls(
    flows('pay', 'issue_refund', { order: 'O-1', amount: 5 }),
    flows('slow', 'read_order', { orderId: 'beside', _outputPath: 'state.p' }),
    flows('next', 'read_delivery_status', { orderId: from('p.id') }),
  );
  const settings = { toolExecution: 'dataflow' } as const;
  const outcomes = { read_order: [{ ok: { id: '2' } }] };
  const shell = createShell(script([...reads(LONG), beside, says('done')], { settings, outcomes }));
  until(shell, 'approval_requested');
  while (!goesOver(shell) && tick(shell));
  expect(codesOf(shell)).toMatchObject({ slow: 'ok', next: 'ok' });
  expect(goesOver(shell)).toBe(true);
});

test('a conversation that waits for its user does so in a new segment', () => {
  const settings = { afterAnswer: 'await_user' } as const;
  const shell = settle(
    createShell(script([...reads(LONG), says('one'), says('two')], { settings })),
  );
  expect(goesOver(shell)).toBe(true);
  crossSegment(shell);
  send(shell, { type: 'user_message', text: 'next', id: 'm1' });
  settle(shell);
  expect(shell.run.lastAnswer).toEqual({ text: 'two' });
  expect(goesOver(shell)).toBe(false);
});

test('an interrupt in the moment of the change stops the run', () => {
  const shell = createShell(ASKS_LATE);
  until(shell, 'approval_requested');
  post(shell, { type: 'interrupt' });
  expect(finish(shell).stopReason).toBe('interrupted');
});

test('a run that is too large to be handed on stays, and goes on', () => {
  const shell = createShell(ASKS_LATE);
  until(shell, 'approval_requested');
  const state = { blob: { value: 'x'.repeat(260_000), at: shell.now, callId: 'r0' } };
  shell.run = { ...shell.run, state: state as never };
  settle(shell);
  expect(goesOver(shell)).toBe(false);
  answer(shell);
  expect(finish(shell).stopReason).toBe('completed');
});

test('a segment whose archive failed is counted from its own beginning', () => {
  const failed = { code: 'StoreUnavailable', message: 'away' } as const;
  const shell = settle(createShell({ ...ASKS_LATE, openFailures: { 1: failed } }));
  crossSegment(shell);
  settle(shell);
  expect(goesOver(shell)).toBe(false);
  expect(started(shell, 'open_run')).toHaveLength(2);
  activate(shell);
  answer(shell);
  expect(finish(shell).stopReason).toBe('completed');
  expect(requestsOf(shell)).toHaveLength(LONG + 2);
});
