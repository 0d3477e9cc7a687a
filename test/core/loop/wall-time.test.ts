/** Time that runs out: while work is under way, and while only people are waited for. */
import { viewOf } from '../../../core/step/open-work.js';
import { call, calls, decisionOn, says, type Script } from '../script.js';
import {
  answer,
  codesOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  pass,
  send,
  settle,
  started,
  START,
  type Shell,
} from '../shell.js';

const MINUTE = 60_000;
const REFUND = calls(call('a', 'issue_refund', {}));

function waiting(more: Partial<Script> = {}): Shell {
  const { settings, ...rest } = more;
  return settle(
    createShell({
      model: [REFUND, says('done')],
      budget: { timeoutMs: MINUTE },
      ...rest,
      settings: { timeoutCounts: 'wall', ...settings },
    }),
  );
}

function endOf(shell: Shell): number | undefined {
  return ofType(shell, 'stop')[0]?.stamp.at;
}

describe('timeoutCounts wall: an open question', () => {
  test('does not outlive the run: it ends at its time, not when somebody answers', () => {
    const shell = waiting();
    const result = finish(shell);
    expect(result).toMatchObject({ stopReason: 'timeout', status: 'stopped' });
    expect(endOf(shell)).toBe(START + MINUTE);
    expect(codesOf(shell)).toEqual({ a: 'budget_exceeded' });
    expect(ofType(shell, 'approval_withdrawn')).toHaveLength(1);
    expect(executedOf(shell)).toEqual([]);
  });

  test('answered in time lets the run go on, and its timer goes with it', () => {
    const shell = waiting();
    pass(shell, MINUTE / 2);
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
    const timers = shell.effects.filter((effect) => effect.kind === 'timer');
    const cancels = shell.effects.filter((effect) => effect.kind === 'cancel');
    expect(timers).toHaveLength(2);
    expect(cancels).toHaveLength(2);
  });

  test('keeps its end over continue-as-new', () => {
    const shell = waiting();
    crossSegment(shell);
    expect(finish(shell).stopReason).toBe('timeout');
    expect(endOf(shell)).toBe(START + MINUTE);
  });

  test('an outcome that nobody knows stays unknown when time runs out', () => {
    const shell = waiting({
      model: [calls(call('a', 'write_note', {})), says('done')],
      outcomes: { write_note: [{ ambiguous: 'reset' }] },
    });
    expect(finish(shell).stopReason).toBe('timeout');
    expect(codesOf(shell)).toEqual({ a: 'outcome_unknown' });
  });

  test('of a conversation ends it too', () => {
    const shell = waiting({ model: [says('hi')], settings: { afterAnswer: 'await_user' } });
    expect(finish(shell)).toMatchObject({ stopReason: 'timeout', partialOutput: { text: 'hi' } });
    expect(endOf(shell)).toBe(START + MINUTE);
  });

  test('without a limit waits for its own expiry', () => {
    const shell = waiting({ budget: { timeoutMs: 'unlimited' } });
    expect(shell.effects.filter((effect) => effect.kind === 'timer')).toHaveLength(1);
  });
});

test('timeoutCounts active: no timer is armed for the run, people have all the time of the question', () => {
  const shell = waiting({ settings: { timeoutCounts: 'active' } });
  pass(shell, 10 * MINUTE);
  answer(shell);
  expect(finish(shell).stopReason).toBe('completed');
});

describe('work that is under way when time runs out', () => {
  test('G27: a read gets a timeout, the run stops and nothing else starts', () => {
    const shell = createShell({
      model: [calls(call('a', 'read_order'), call('b', 'lookup_order')), says('late')],
      outcomes: { read_order: [{ ok: 1, delayMs: 2 * MINUTE }] },
      budget: { timeoutMs: MINUTE },
    });
    expect(finish(shell).stopReason).toBe('timeout');
    expect(codesOf(shell)).toEqual({ a: 'timeout', b: 'budget_exceeded' });
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('G83: a call that changes something is unknown, and nobody is asked', () => {
    const shell = createShell({
      model: [calls(call('a', 'write_note', {})), says('late')],
      outcomes: { write_note: [{ ok: 1, delayMs: 2 * MINUTE }] },
      budget: { timeoutMs: MINUTE },
    });
    expect(finish(shell).stopReason).toBe('timeout');
    expect(codesOf(shell)).toEqual({ a: 'outcome_unknown' });
    expect(started(shell, 'reconcile_tool')).toEqual([]);
  });

  test('a model call is not waited for', () => {
    const shell = createShell({
      model: [{ ...says('late'), delayMs: 2 * MINUTE }],
      budget: { timeoutMs: MINUTE },
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'timeout', counters: { modelCalls: 0 } });
  });
});

test('S72: time that tools take counts; the run stops at the next look', () => {
  const slow = { ok: 1, delayMs: 600 } as const;
  const shell = createShell({
    model: [calls(call('a', 'read_order')), calls(call('b', 'lookup_order')), says('late')],
    outcomes: { read_order: [slow], lookup_order: [slow] },
    budget: { timeoutMs: 1_000 },
  });
  expect(finish(shell).stopReason).toBe('timeout');
});

test('a cancel while time is watched ends the run as aborted', () => {
  const shell = waiting();
  send(shell, { type: 'cancel_requested' });
  expect(finish(shell).stopReason).toBe('aborted');
});

describe('wall time that a person may extend', () => {
  const settings = { onBudget: 'ask' } as const;

  test('is asked about when it is used up, and a no ends the run', () => {
    const shell = waiting({ settings });
    pass(shell, MINUTE);
    const ask = shell.run.asks.find((one) => one.kind === 'budget');
    expect(ask).toMatchObject({ outcome: 'pending' });
    const decision = decisionOn(viewOf(ask!), { decision: 'reject', decidedAt: shell.now });
    send(shell, { type: 'decision', decision });
    expect(finish(shell).stopReason).toBe('timeout');
  });

  test('and a yes gives the open question its time', () => {
    const shell = waiting({ settings });
    pass(shell, MINUTE);
    for (const kind of ['budget', 'approval']) {
      const ask = shell.run.asks.find((one) => one.kind === kind)!;
      send(shell, {
        type: 'decision',
        decision: decisionOn(viewOf(ask), { decidedAt: shell.now }),
      });
    }
    expect(finish(shell).stopReason).toBe('completed');
  });
});
