/** What comes before anybody asked, and what comes when it is almost over. */
import { parseStart } from '../../../core/messages/parse-start.js';
import { call, calls, decisionOn, says } from '../script.js';
import {
  answer,
  askOf,
  createShell,
  executedOf,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  until,
  warningsOf,
} from '../shell.js';

const REFUND = calls(call('a', 'issue_refund', { order: 'O-1' }));

describe('an answer about an outcome that nobody asked about yet', () => {
  test('is not kept: the effect may still happen', () => {
    const shell = createShell({
      model: [REFUND, says('done')],
      outcomes: { issue_refund: [{ ambiguous: 'lost' }, { ok: 'paid' }] },
      findings: [{ kind: 'unknown', message: 'no probe' }],
    });
    settle(shell);
    const ask = askOf(shell);
    const early = decisionOn(
      { ...ask, askId: `${ask.askId}:outcome` },
      { decision: 'not_happened', by: 'eve' },
    );
    send(shell, { type: 'decision', decision: early });
    answer(shell);
    until(shell, 'input_request');
    settle(shell);
    expect(executedOf(shell)).toHaveLength(1);
    expect(warningsOf(shell)).toContain('decision_ignored');
  });
});

describe('an approval that comes before its question', () => {
  test('must name the exact action at once', () => {
    const shell = createShell({
      model: [calls(call('r', 'read_order'), call('a', 'issue_refund', {})), says('no')],
    });
    const started = until(shell, 'tool_started');
    expect(started.type).toBe('tool_started');
    const decision = {
      v: 1 as const,
      askId: `${shell.run.runId}:0:1`,
      argsHash: 'f'.repeat(64),
      decision: 'approve' as const,
      by: 'ann',
      roles: [],
      decidedAt: shell.now,
    };
    send(shell, { type: 'decision', decision, ticket: 't' });
    expect(shell.verdicts).toMatchObject([{ verdict: { accepted: false, reason: 'mismatched' } }]);
  });
});

describe('a message that comes while the last answer is made', () => {
  test('is answered before the run completes', () => {
    const shell = createShell({ model: [says('first'), says('second')] });
    until(shell, 'session_init');
    send(shell, { type: 'user_message', text: 'wrong order' });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', answer: { text: 'second' } });
    expect(requestsOf(shell)).toHaveLength(2);
    expect(ofType(shell, 'user_message')).toHaveLength(1);
  });

  test('is named in the result when a budget leaves no turn for it', () => {
    const shell = createShell({ budget: { maxTurns: 1 }, model: [says('first')] });
    until(shell, 'session_init');
    send(shell, { type: 'user_message', text: 'wrong order' });
    const result = finish(shell);
    expect(result).toMatchObject({ stopReason: 'max_turns', unprocessed: ['user_message'] });
    expect(warningsOf(shell)).toContain('messages_unread');
  });
});

describe('a start from outside', () => {
  test.each([100, 3_000, 100_000])('that nests %d deep is refused by name', (depth) => {
    let metadata: unknown = 'x';
    for (let level = 0; level < depth; level += 1) metadata = { m: metadata };
    const parsed = parseStart({ v: 1, agent: 'a', task: { goal: 'g', metadata } });
    expect(parsed).toMatchObject({ ok: false, reason: expect.stringContaining('nests deeper') });
  });
});
