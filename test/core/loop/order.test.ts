/** Answers about the order of things, as somebody gives them who has read the sentences of core/loop/rules.ts alone. */
import {
  call,
  calls,
  decisionOn,
  failure,
  says,
  tool,
  usage,
  withReply,
  type Script,
} from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  post,
  requestsOf,
  send,
  settle,
  started,
  tick,
  together,
  until,
  type Shell,
} from '../shell.js';

const REFUND = calls(call('a', 'issue_refund', { amount: 5 }));
const READ = calls(call('a', 'read_order'));
const ASKING = { onBudget: 'ask' } as const;

/** The model call has started and has not answered. */
function asked(script: Script): Shell {
  const shell = createShell(script);
  while (requestsOf(shell).length === 0) tick(shell);
  return shell;
}

test('an approval comes while a budget is used up: the call runs, then the budget is asked about', () => {
  const script = { budget: { maxTurns: 1 }, settings: ASKING, model: [REFUND, says('Done.')] };
  const shell = settle(createShell(script));
  expect(askOf(shell).kind).toBe('approval');
  answer(shell);
  settle(shell);
  expect(executedOf(shell)).toHaveLength(1);
  expect(askOf(shell).kind).toBe('budget');
});

test('the money is gone with the reply: the budget is asked about before any of its calls', () => {
  const dear = withReply(REFUND, usage(100, 100_000));
  const shell = settle(
    createShell({ budget: { maxCostMicroUsd: 1_000_000 }, settings: ASKING, model: [dear] }),
  );
  expect(executedOf(shell)).toEqual([]);
  expect(askOf(shell).kind).toBe('budget');
});

test('a model call ends without its cost and a person cancels: the cost comes first', () => {
  const shell = asked({
    model: [failure('ServerError')],
    accounts: [{ costMicroUsd: 77 }],
  });
  post(shell, { type: 'cancel_requested' });
  tick(shell);
  expect(finish(shell)).toMatchObject({ stopReason: 'aborted', costMicroUsd: 77 });
});

test('a segment is full and an approval comes: the next segment runs the call', () => {
  const shell = settle(createShell({ model: [REFUND, says('Done.')] }));
  post(shell, { type: 'segment_full' });
  answer(shell);
  expect(executedOf(shell)).toEqual([]);
  expect(shell.run.final?.kind).toBe('continue_as_new');
});

test('the answer and an interrupt come together: the run is interrupted', () => {
  const shell = asked({ model: [says('Done.')] });
  post(shell, { type: 'interrupt' });
  tick(shell);
  expect(finish(shell)).toMatchObject({ stopReason: 'interrupted' });
  expect(finish(shell).answer).toBeUndefined();
});

test('a cut-off reply has a whole call: the call runs, the reply is not resumed', () => {
  const cut = withReply(READ, { stop: 'max_tokens' });
  const shell = createShell({ model: [cut, says('Done.')] });
  expect(finish(shell).stopReason).toBe('completed');
  expect(executedOf(shell)).toHaveLength(1);
  expect(ofType(shell, 'transition').map(({ reason }) => reason)).toEqual(['next_turn']);
});

test('a call fails too often while another one waits for its turn: the run stops, and nobody is asked', () => {
  const shell = createShell({
    budget: { maxConsecutiveToolErrors: 1 },
    model: [calls(call('a', 'read_order'), call('b', 'issue_refund', {}))],
    outcomes: { read_order: [{ error: 'no such order' }] },
  });
  expect(finish(shell)).toMatchObject({
    stopReason: 'needs_human',
    detail: 'repeated_tool_failure',
  });
  expect(ofType(shell, 'approval_requested')).toEqual([]);
  expect(Object.keys(codesOf(shell))).toEqual(['a', 'b']);
  expect(executedOf(shell)).toHaveLength(1);
});

test('a mode and a reply come together: its calls are decided in that mode', () => {
  const shell = asked({
    model: [calls(call('a', 'write_note', {})), says('Done.')],
  });
  post(shell, { type: 'set_permission_mode', mode: 'plan' });
  tick(shell);
  finish(shell);
  expect(executedOf(shell)).toEqual([]);
  expect(codesOf(shell)).toEqual({ a: 'permission_denied' });
});

test('a close and a message come together: the message is answered first', () => {
  const shell = settle(
    createShell({ model: [says('one'), says('two')], settings: { afterAnswer: 'await_user' } }),
  );
  send(shell, { type: 'close' }, { type: 'user_message', text: 'and?' });
  expect(finish(shell)).toMatchObject({ stopReason: 'completed', answer: { text: 'two' } });
});

test('another model is named while a call runs: looked up at once, asked from the next request on', () => {
  const shell = createShell({
    model: [READ, says('Done.')],
    routes: { 'anthropic/other': {} },
    outcomes: { read_order: [{ ok: 1, delayMs: 1_000 }] },
  });
  until(shell, 'tool_started');
  send(shell, { type: 'set_model', model: 'anthropic/other' });
  expect(started(shell, 'resolve_model')).toHaveLength(1);
  expect(requestsOf(shell)).toHaveLength(1);
  finish(shell);
  expect(requestsOf(shell).map(({ route }) => route.name)).toEqual([
    'scripted/model',
    'anthropic/other',
  ]);
});

test('the last word has calls: none of them runs, and the budget is the reason', () => {
  const shell = createShell({
    budget: { maxToolCalls: 1 },
    settings: { wrapUpTurn: true },
    model: [READ, calls(call('b', 'read_order')), says('late')],
  });
  expect(finish(shell).stopReason).toBe('max_tool_calls');
  expect(executedOf(shell)).toHaveLength(1);
});

test('a message and the answer come together: the message is answered before the run completes', () => {
  const shell = asked({ model: [says('one'), says('two')] });
  post(shell, { type: 'user_message', text: 'and?' });
  tick(shell);
  expect(finish(shell)).toMatchObject({ stopReason: 'completed', answer: { text: 'two' } });
});

test.each(['first', 'last'])(
  'an approval and the end of its time come together, the approval %s: the call runs',
  (place) => {
    const shell = settle(createShell({ model: [REFUND, says('Done.')] }));
    const decision = decisionOn(askOf(shell), { decidedAt: shell.now });
    const both = [{ type: 'decision', decision }, 'timer'] as const;
    together(shell, place === 'first' ? both : both.toReversed());
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(1);
  },
);

test('a mode comes while a question is open: the question that it makes needless is withdrawn, and the call runs', () => {
  const settings = { allowBypassPermissions: true };
  const shell = settle(
    createShell({
      settings,
      policy: [{ tool: 'write_note', decision: 'ask' }],
      model: [calls(call('a', 'write_note', {})), says('Done.')],
    }),
  );
  expect(askOf(shell).kind).toBe('approval');
  send(shell, { type: 'set_permission_mode', mode: 'bypassPermissions' });
  expect(finish(shell).stopReason).toBe('completed');
  expect(ofType(shell, 'approval_withdrawn')).toHaveLength(1);
  expect(executedOf(shell)).toHaveLength(1);
});

test('a handoff is granted and the turns are used up: the run is handed over before its turns are looked at', () => {
  const shell = createShell({
    budget: { maxTurns: 1 },
    handoffTo: [{ agent: 'billing', filter: 'summary' }],
    tools: [tool('handoff', { kind: 'handoff', effect: 'none' })],
    model: [calls(call('h', 'handoff', { to: 'billing', summary: 'Yours.' })), says('late')],
  });
  settle(shell);
  expect(shell.run.final?.kind).toBe('continue_as_new');
  expect(ofType(shell, 'stop')).toEqual([]);
});

test('the time of the run ends and the answer comes: the end of wall time is first', () => {
  const shell = asked({
    budget: { timeoutMs: 10_000 },
    settings: { timeoutCounts: 'wall' },
    model: [says('Done.')],
  });
  together(shell, ['timer']);
  expect(finish(shell).stopReason).toBe('timeout');
});
