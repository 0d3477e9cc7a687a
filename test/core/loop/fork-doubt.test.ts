/** Calls of a recorded run that may have taken effect, as a fork takes them over (K3). */
import { forkOpened } from '../../../core/loop/fork.js';
import { open } from '../../../core/loop/open.js';
import type { Call, CallFact } from '../../../core/state/call.js';
import type { OpenRunOutput } from '../../../core/state/effect.js';
import type { Finding } from '../../../core/state/recovery.js';
import type { OpenRun } from '../../../core/state/run.js';
import { RULES_VERSION } from '../../../core/step/changes.js';
import { baseOf } from '../../../core/step/open-work.js';
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

interface More {
  readonly namesKeys?: boolean;
  readonly changed?: Partial<Script>;
}

function forked(parent: Shell, more: More = {}): Shell {
  return settle(forkShell(parent, { changed: DONE, ...more }));
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

/** Its first attempt is back with this, and nothing of it was in doubt before. */
function firstBack(fact: CallFact) {
  return (call: Call): Call => {
    const { inDoubt: _, ...one } = call;
    return { ...one, attempt: 1, stage: 'returned', durationMs: 1, fact } as Call;
  };
}

describe('the question of a fork about a call of the recorded run', () => {
  test.each([
    [true, 'with key case:0 take effect'],
    [false, 'with key fork:0 take effect'],
  ])(
    'names the key of the attempt, unless an older release made the fork (%s)',
    (namesKeys, words) => {
      const fork = forked(doubtful(LOST), { namesKeys });
      expect(askOf(fork)).toMatchObject({ kind: 'outcome', callKey: '0' });
      expect(askOf(fork).question).toContain(words);
    },
  );

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
    [
      'that no worker took it',
      {
        kind: 'failure',
        doing: 'execute',
        failure: { code: 'Internal', message: '', unserved: true },
        outOfTime: false,
      } as CallFact,
    ],
    ['the advice to repeat it with its key', { kind: 'finding', finding: { kind: 'repeat' } }],
  ])('comes where %s had come back and was not yet acted upon', (_what, fact) => {
    const parent = standing(doubtful(LOST), firstBack(fact));
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
    expect(executedOf(forked(parent, { namesKeys: false }))).toHaveLength(1);
  });
});

describe('the answer to it', () => {
  test('that it took effect is its result, and nothing is done', () => {
    const fork = forked(doubtful(LOST));
    answer(fork, { decision: 'happened', value: { id: 7 } });
    expect(finish(fork).stopReason).toBe('completed');
    expect(executedOf(fork)).toEqual([]);
    // Under the key of the fork, where the ledger has the answer.
    expect(ofType(fork, 'tool_finished')).toMatchObject([{ key: 'fork:0', status: 'ok' }]);
    expect(started(fork, 'record_outcome')).toMatchObject([{ input: { call: { key: 'fork:0' } } }]);
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
    [true, 'execution_error'],
    [false, 'outcome_unknown'],
  ])('after the last attempt is the result, where the key was named (%s)', (namesKeys, code) => {
    const fork = forked(doubtful(LOST), { namesKeys });
    answer(fork, { decision: 'not_happened' });
    expect(finish(fork).stopReason).toBe('completed');
    expect(codesOf(fork)).toEqual({ a: code });
    expect(executedOf(fork)).toEqual([]);
  });
});

describe('what a fork knows of the call without a question', () => {
  const OK: CallFact = { kind: 'outcome', outcome: { kind: 'ok', content: { text: 'paid' } } };

  test('an outcome that the record has later, also where the next attempt was about to be made', () => {
    const lost = until(pays({ outcomes: { issue_refund: [LOST] } }), 'executing');
    const waits = standing(
      doubtful(LOST),
      (one) => ({ ...one, stage: 'granted', inDoubt: true }) as Call,
    );
    for (const parent of [lost, waits]) {
      const fork = settle(forkShell(parent, { changed: DONE, outcomes: { a: OK } }));
      expect(finish(fork).stopReason).toBe('completed');
      expect(executedOf(fork)).toEqual([]);
      expect(codesOf(fork)).toEqual({ a: 'ok' });
    }
  });

  test('a result that is given in place of the one that it would have', () => {
    const parent = standing(
      doubtful(LOST),
      (one) => ({ ...one, stage: 'granted', inDoubt: true }) as Call,
    );
    const results = { a: { text: 'as if paid' } };
    const fork = settle(forkShell(parent, { changed: DONE, results }));
    expect(finish(fork).stopReason).toBe('completed');
    expect(ofType(fork, 'tool_finished')).toMatchObject([{ content: { text: 'as if paid' } }]);
  });
});

describe('the key of the recorded run is gone with what belongs to the fork alone', () => {
  test.each<[string, CallFact, string]>([
    [
      'had taken the key of another call',
      { kind: 'outcome', outcome: { kind: 'key_conflict', message: 'taken' } },
      'fork:0:r1',
    ],
    ['did nothing', { kind: 'finding', finding: { kind: 'not_happened' } }, 'fork:0'],
  ])('where the attempt of the parent %s', (_what, fact, key) => {
    const parent = standing(doubtful(LOST), firstBack(fact));
    const found: Finding = { kind: 'unknown', message: 'nobody knows' };
    const changed = { ...DONE, outcomes: { issue_refund: [LOST] }, findings: [found] };
    const fork = forked(parent, { changed });
    expect(started(fork, 'reconcile_tool')).toMatchObject([{ input: { call: { key } } }]);
    expect(askOf(fork).question).toContain(`with key ${key} take effect`);
  });
});

describe('the key of the recorded run stays with its attempt', () => {
  test('where the word on it proves nothing: the question names the same key again', () => {
    const fork = forked(doubtful(LOST), { changed: { ...DONE, keysAtRecord: [[]] } });
    answer(fork, { decision: 'happened' });
    settle(fork);
    expect(ofType(fork, 'warning')).toMatchObject([
      { code: 'decision_unproven', message: expect.stringContaining('case:0: ') },
    ]);
    expect(fork.run.asks.at(-1)?.question).toContain('with key case:0 take effect');
  });

  test.each([
    ['observe', 'completed'],
    ['stop', 'needs_human'],
  ] as const)('where nobody is asked (%s)', (onOutcomeUnknown, stopReason) => {
    const parent = until(
      pays({ outcomes: { issue_refund: [LOST] }, settings: { onOutcomeUnknown } }),
      'executing',
    );
    const fork = forked(parent);
    const result = finish(fork);
    expect(result.stopReason).toBe(stopReason);
    expect(ofType(fork, 'tool_finished')).toMatchObject([
      {
        key: 'case:0',
        code: 'outcome_unknown',
        content: { text: expect.stringContaining('(key case:0)') },
      },
    ]);
    if (stopReason === 'needs_human')
      expect(result.nextSafeAction).toBe(
        'Find out whether issue_refund with key case:0 took effect.',
      );
  });

  test('and no sub-agent has one: its call was not executed', () => {
    const parent = standing(
      doubtful(LOST),
      (one) => ({ ...baseOf(one), stage: 'delegated', startedAt: 1 }) as Call,
    );
    const fork = forkShell(parent, { changed: DONE });
    expect(callOf(fork)).not.toHaveProperty('parentKey');
  });
});

test('a question says whether the call may still be under way, and that the fork has a key of its own', () => {
  const lost = until(pays({ outcomes: { issue_refund: [LOST] } }), 'executing');
  expect(askOf(forked(lost)).question).toBe(
    'Did issue_refund with key case:0 take effect? The record does not say how this call of the parent ended. It may still be under way. Done again, the call has a key of the fork.',
  );
  expect(askOf(forked(doubtful(LOST))).question).not.toContain('under way');
});

test('the attempt that a fork does not make is not counted', () => {
  const parent = standing(
    doubtful(LOST),
    (one) => ({ ...one, stage: 'granted', inDoubt: true }) as Call,
  );
  const before = callOf(parent)!.attempt;
  expect(callOf(forked(parent))?.attempt).toBe(before - 1);
});

test.each([
  [24, undefined],
  [25, true],
])(
  'the code that decides the first step of a fork says whether it names keys (rules %d)',
  (rules, keysKnown) => {
    const { run } = doubtful(LOST);
    const start = { v: 1, agent: 'case', task: { goal: 'Go on.' } } as const;
    const rest = open(start, { runId: 'fork_1', at: 1, rules });
    const fork = { run, step: 1, outcomes: {}, keepsRules: true };
    const opened = forkOpened(rest, { fork, rules: RULES_VERSION } as unknown as OpenRunOutput);
    expect(opened.forked?.keysKnown).toBe(keysKnown);
  },
);

describe('a fork that an older release made', () => {
  test('keeps the doubt: nobody was asked about the attempts of its parent', () => {
    const fork = forked(doubtful(LOST), { namesKeys: false });
    answer(fork, { decision: 'not_happened' });
    expect(finish(fork).stopReason).toBe('completed');
    expect(codesOf(fork)).toEqual({ a: 'outcome_unknown' });
  });

  test('does not hide from its own forks that the call may have another key', () => {
    const second = forked(forked(doubtful(LOST), { namesKeys: false }));
    expect(askOf(second).question).toContain('run_1 may have made the call, under another key');
    answer(second, { decision: 'not_happened' });
    expect(finish(second).stopReason).toBe('completed');
    expect(codesOf(second)).toEqual({ a: 'outcome_unknown' });
  });
});
