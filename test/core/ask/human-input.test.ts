import type { AnswerRule } from '../../../core/state/tool.js';
import { call, calls, says, tool, type Script } from '../script.js';
import {
  askOf,
  codesOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  pass,
  send,
  settle,
  warningsOf,
  type Shell,
} from '../shell.js';

const HOUR = 3_600_000;
const QUESTION = { question: 'Is it damaged?' };

function asking(more: Partial<Script> = {}): Shell {
  const model = [calls(call('a', 'ask_customer', QUESTION)), says('done')];
  return settle(createShell({ model, ...more }));
}

function provide(shell: Shell, value: string, askId = 'run_1:0'): void {
  send(shell, { type: 'input_provided', askId, value, by: 'cora' });
}

describe('a question of the model to a person', () => {
  test('S54: its answer is the result of the call, and no tool is called', () => {
    const shell = asking();
    expect(shell.run.shownStatus).toBe('awaiting_input');
    expect(askOf(shell)).toMatchObject({ kind: 'input', callId: 'a', question: 'Is it damaged?' });
    provide(shell, 'damaged');
    const result = finish(shell);
    expect(result.stopReason).toBe('completed');
    expect(result.counters).toMatchObject({ inputRequests: 1, toolCalls: 0, step: 1 });
    expect(ofType(shell, 'tool_finished')).toMatchObject([
      { status: 'ok', content: { text: 'damaged' }, started: false },
    ]);
    expect(ofType(shell, 'input_provided')).toMatchObject([
      { callId: 'a', outcome: 'answered', by: ['cora'] },
    ]);
    expect(executedOf(shell)).toEqual([]);
  });

  test('an answer that is no text reaches the model as JSON', () => {
    const shell = asking();
    send(shell, { type: 'input_provided', askId: 'run_1:0', value: { color: 'blue' }, by: 'x' });
    finish(shell);
    expect(ofType(shell, 'tool_finished')).toMatchObject([
      { content: { text: '{"color":"blue"}' } },
    ]);
  });

  test('the waiting costs no active time', () => {
    const shell = asking({ budget: { timeoutMs: 60_000 } });
    pass(shell, 24 * HOUR);
    provide(shell, 'yes');
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('unanswered, the run needs a person; nothing was executed', () => {
    const shell = asking({ settings: { inputTimeoutMs: HOUR } });
    const result = finish(shell);
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'user_input_required' });
    expect(result.nextSafeAction).toContain('Is it damaged?');
    expect(result.counters.inputRequests).toBe(1);
    expect(codesOf(shell)).toEqual({ a: 'not_executed' });
  });

  test('interrupted, its question is withdrawn and the call has its result', () => {
    const shell = asking();
    send(shell, { type: 'interrupt' });
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'before_tools' });
    expect(ofType(shell, 'approval_withdrawn')).toMatchObject([{ askId: 'run_1:0', callId: 'a' }]);
    expect(codesOf(shell)).toEqual({ a: 'interrupted' });
  });

  test('is not limited by the number of tool calls', () => {
    const both = calls(call('r', 'read_order'), call('a', 'ask_customer', QUESTION));
    const shell = asking({ budget: { maxToolCalls: 1 }, model: [both, says('x')] });
    expect(askOf(shell).callId).toBe('a');
  });

  test('needs no permission to ask for permission, but can be denied', () => {
    const ask = asking({ policy: [{ tool: '*', decision: 'ask' }] });
    expect(askOf(ask).kind).toBe('input');
    const deny = asking({ policy: [{ tool: 'ask_*', decision: 'deny' }] });
    expect(finish(deny).counters).toMatchObject({ deniedCalls: 1, inputRequests: 0 });
  });

  test('survives continue-as-new', () => {
    const shell = asking();
    crossSegment(shell);
    provide(shell, 'damaged');
    expect(finish(shell).stopReason).toBe('completed');
  });
});

describe('only an answer to the open question counts', () => {
  test('an unknown question, or a second answer, is ignored with a warning', () => {
    const shell = asking();
    provide(shell, 'x', 'run_1:9');
    send(
      shell,
      { type: 'input_provided', askId: 'run_1:0', value: 'first', by: 'a' },
      { type: 'input_provided', askId: 'run_1:0', value: 'second', by: 'b' },
    );
    finish(shell);
    expect(warningsOf(shell)).toEqual(['input_ignored', 'input_ignored']);
    expect(ofType(shell, 'tool_finished')).toMatchObject([{ content: { text: 'first' } }]);
  });

  test('an approval is no answer, and an answer approves nothing', () => {
    const shell = asking();
    const { askId, argsHash, openedAt } = askOf(shell);
    const who = { by: 'pat', roles: [], decidedAt: openedAt };
    send(shell, {
      type: 'decision',
      decision: { v: 1, askId, argsHash, decision: 'approve', ...who },
    });
    expect(warningsOf(shell)).toEqual(['decision_ignored']);

    const refund = settle(
      createShell({ model: [calls(call('a', 'issue_refund', { order: 'O', amount: 1 }))] }),
    );
    provide(refund, 'approve');
    expect(warningsOf(refund)).toEqual(['input_ignored']);
    expect(executedOf(refund)).toEqual([]);
  });
});

test('two questions of one reply are answered each by its own id', () => {
  const model = [
    calls(call('a', 'ask_customer', QUESTION), call('b', 'ask_customer', { question: 'Which?' })),
    says('done'),
  ];
  const shell = settle(
    createShell({ model, tools: [tool('ask_customer', { kind: 'human_input', effect: 'none' })] }),
  );
  provide(shell, 'yes', 'run_1:0:0');
  settle(shell);
  provide(shell, 'the blue one', 'run_1:0:1');
  expect(finish(shell).counters.inputRequests).toBe(2);
  expect(ofType(shell, 'tool_finished').map((event) => event.content)).toEqual([
    { text: 'yes' },
    { text: 'the blue one' },
  ]);
});

describe('who may answer a question', () => {
  const answers = (answeredBy: AnswerRule, caller?: string): Shell =>
    asking({
      tools: [tool('ask_customer', { kind: 'human_input', effect: 'none', answeredBy })],
      ...(caller !== undefined && { task: { caller } }),
    });

  test.each<[string, AnswerRule, string, readonly string[], boolean]>([
    ['the customer, to a question to the customer', 'customer', 'cora', [], true],
    ['somebody else, to a question to the customer', 'customer', 'stan', ['agent'], false],
    ['the customer, to a question to the staff', 'staff', 'cora', ['agent'], false],
    ['anybody else, to a question to the staff', 'staff', 'stan', [], true],
    ['somebody of the role that is asked', { roles: ['lawyer'] }, 'stan', ['lawyer'], true],
    ['somebody of another role', { roles: ['lawyer'] }, 'stan', ['agent'], false],
    ['the customer with that role', { roles: ['lawyer'] }, 'cora', ['lawyer'], false],
  ])('%s', (_who, rule, by, roles, counts) => {
    const shell = answers(rule, 'cora');
    send(shell, { type: 'input_provided', askId: 'run_1:0', value: 'yes', by, roles });
    settle(shell);
    expect(codesOf(shell)).toEqual(counts ? { a: 'ok' } : {});
    expect(warningsOf(shell)).toEqual(counts ? [] : ['input_ignored']);
    expect(shell.run.asks.some((ask) => ask.outcome === 'pending')).toBe(!counts);
  });

  test('the question says who is asked, and who the customer is', () => {
    expect(askOf(answers('customer', 'cora'))).toMatchObject({
      answeredBy: 'customer',
      requestedBy: 'cora',
      roles: [],
    });
    expect(askOf(answers({ roles: ['lawyer'] }, 'cora'))).toMatchObject({
      answeredBy: 'staff',
      roles: ['lawyer'],
    });
  });

  test('a run that works for nobody by name has no customer to wait for', () => {
    const shell = answers('customer');
    send(shell, { type: 'input_provided', askId: 'run_1:0', value: 'yes', by: 'anyone' });
    expect(finish(shell).stopReason).toBe('completed');
  });
});
