/** Calls of a recorded run that may have taken effect, as a fork takes them over (K3). */
import type { Call, CallFact } from '../../../core/state/call.js';
import type { Finding } from '../../../core/state/recovery.js';
import type { OpenRun } from '../../../core/state/run.js';
import { RULES_VERSION } from '../../../core/step/changes.js';
import { call, calls, failure, says, tool, type Script, type ToolEntry } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  executedOf,
  finish,
  forkShell,
  ofType,
  settle,
  started,
  tick,
  type Shell,
} from '../shell.js';

const LOST = failure('Internal', { timedOut: true });
const BEFORE = 24;

function pays(more: Partial<Script>): Shell {
  return createShell({
    tools: [
      tool('issue_refund', {
        effect: 'financial',
        idempotency: 'keyed',
        onLost: 'repeat_with_key',
      }),
    ],
    policy: [{ tool: 'issue_refund', decision: 'allow' }],
    model: [calls(call('a', 'issue_refund')), says('done')],
    findings: [{ kind: 'repeat' }],
    ...more,
  });
}

function doubtful(...outcomes: readonly ToolEntry[]): Shell {
  return settle(pays({ outcomes: { issue_refund: outcomes } }));
}

const DONE: Partial<Script> = {
  model: [says('done')],
  outcomes: { issue_refund: [{ ok: 'paid' }] },
};

function forked(parent: Shell, more: { rules?: number; changed?: Partial<Script> } = {}): Shell {
  return settle(forkShell(parent, { rules: RULES_VERSION, changed: DONE, ...more }));
}

/** Plays the parent until its call is in this stage, and has its state there. */
function until(parent: Shell, stage: Call['stage']): Shell {
  while (callOf(parent)?.stage !== stage) if (!tick(parent)) throw new Error(`never ${stage}`);
  return parent;
}

function callOf(shell: Shell): Call | undefined {
  return shell.run.turn?.calls[0];
}

/** The parent as if its call stood so between two activations. */
function standing(parent: Shell, change: (call: Call) => Call): Shell {
  const run = parent.run as OpenRun;
  const turn = { ...run.turn!, calls: run.turn!.calls.map(change) };
  return { ...parent, run: { ...run, turn } };
}

describe('the question of a fork about a call of the recorded run', () => {
  test.each([
    [RULES_VERSION, 'with key case:0 take effect'],
    [BEFORE, 'with key fork:0 take effect'],
  ])('names the key of the attempt (rules %d)', (rules, words) => {
    const fork = forked(doubtful(LOST), { rules });
    expect(askOf(fork)).toMatchObject({ kind: 'outcome', callKey: '0' });
    expect(askOf(fork).question).toContain(words);
  });

  test('names the key of the first run also in the fork of a fork', () => {
    const second = forked(forked(doubtful(LOST)));
    expect(askOf(second).question).toContain('with key case:0 take effect');
  });

  test('is put before anything is asked of the ledger or the tool, which know nothing of that key', () => {
    const parent = until(pays({ outcomes: { issue_refund: [LOST] } }), 'executing');
    const fork = forked(parent);
    expect(askOf(fork).question).toContain('with key case:0');
    expect(started(fork, 'reconcile_tool')).toEqual([]);
    expect(executedOf(fork)).toEqual([]);
  });

  test.each<[string, CallFact]>([
    [
      'an answer that leaves open',
      { kind: 'outcome', outcome: { kind: 'ambiguous', message: 'reset' } },
    ],
    [
      'a loss',
      {
        kind: 'failure',
        doing: 'execute',
        failure: { code: 'Internal', message: 'lost', timedOut: true },
        outOfTime: false,
      } as CallFact,
    ],
    ['the advice to repeat it with its key', { kind: 'finding', finding: { kind: 'repeat' } }],
  ])('comes where %s had come back and was not yet acted upon', (_what, fact) => {
    const parent = standing(
      doubtful(LOST),
      (one) => ({ ...one, stage: 'returned', durationMs: 1, fact }) as Call,
    );
    const fork = forked(parent);
    expect(askOf(fork).question).toContain('with key case:0');
    expect(started(fork, 'reconcile_tool')).toEqual([]);
    expect(executedOf(fork)).toEqual([]);
  });

  test('comes where the next attempt was about to be made: by a fork it would have another key', () => {
    const parent = standing(
      doubtful(LOST),
      (one) => ({ ...one, stage: 'granted', inDoubt: true }) as Call,
    );
    expect(askOf(forked(parent)).question).toContain('with key case:0');
    // The release before made that attempt.
    expect(executedOf(forked(parent, { rules: BEFORE }))).toHaveLength(1);
  });
});

describe('the answer to it', () => {
  test('that it took effect gives a result with the key of the attempt', () => {
    const fork = forked(doubtful(LOST));
    answer(fork, { decision: 'happened', value: { id: 7 } });
    expect(finish(fork).stopReason).toBe('completed');
    expect(executedOf(fork)).toEqual([]);
    expect(ofType(fork, 'tool_finished')).toMatchObject([{ key: 'case:0', status: 'ok' }]);
  });

  test('that it did not has the fork make its own attempt, under its own key', () => {
    const parent = settle(pays({ outcomes: { issue_refund: [LOST] }, findings: [] }));
    const fork = forked(parent);
    answer(fork, { decision: 'not_happened' });
    expect(finish(fork).stopReason).toBe('completed');
    expect(executedOf(fork)).toEqual(['a issue_refund fork:0 2']);
    expect(ofType(fork, 'tool_finished')).toMatchObject([{ key: 'fork:0', status: 'ok' }]);
  });

  test('leaves nothing of the doubt: a lost attempt of the fork is found out by its own key', () => {
    const parent = settle(pays({ outcomes: { issue_refund: [LOST] }, findings: [] }));
    const happened: Finding = { kind: 'happened', source: 'probe', content: { text: 'paid' } };
    const fork = forked(parent, {
      changed: { ...DONE, outcomes: { issue_refund: [LOST] }, findings: [happened] },
    });
    answer(fork, { decision: 'not_happened' });
    expect(finish(fork).stopReason).toBe('completed');
    expect(started(fork, 'reconcile_tool')).toMatchObject([{ input: { call: { key: 'fork:0' } } }]);
    expect(codesOf(fork)).toEqual({ a: 'ok' });
  });

  test.each([
    [RULES_VERSION, 'execution_error'],
    [BEFORE, 'outcome_unknown'],
  ])('after the last attempt is the result (rules %d)', (rules, code) => {
    const fork = forked(doubtful(LOST), { rules });
    answer(fork, { decision: 'not_happened' });
    expect(finish(fork).stopReason).toBe('completed');
    expect(codesOf(fork)).toEqual({ a: code });
    expect(executedOf(fork)).toEqual([]);
  });
});

test.each([
  [RULES_VERSION, 'case:0'],
  [BEFORE, 'fork:0'],
])('a recorded outcome has the key under which it came about (rules %d)', (rules, key) => {
  const parent = until(pays({ outcomes: { issue_refund: [LOST] } }), 'executing');
  const outcomes = {
    a: { kind: 'outcome', outcome: { kind: 'ok', content: { text: 'paid' } } },
  } as const;
  const fork = settle(forkShell(parent, { rules, changed: DONE, outcomes }));
  expect(ofType(fork, 'tool_finished')).toMatchObject([{ key, status: 'ok' }]);
});
