/** Which reads are tried within the task that decides, and what follows where they do not answer. */
import { failureOf } from '../../../core/state/failure.js';
import { RULES_VERSION } from '../../../core/step/changes.js';
import { call, calls, says, tool, type Script, type ToolEntry } from '../script.js';
import {
  activate,
  answer,
  createShell,
  crossSegment,
  ofType,
  post,
  resultOf,
  settle,
  started,
  tick,
  type Shell,
} from '../shell.js';

const WITHOUT_QUICK = 17;
const LATE_IS_QUICK = 19;
const QUICK = tool('x_quick', { quick: true, concurrencySafe: true });
const PLAIN = tool('x_plain', { concurrencySafe: true });

const quick = (id: string) => call(id, 'x_quick', { id });

function shellOf(script: Partial<Script> = {}): Shell {
  const model = [calls(quick('a')), says('ok')];
  return createShell({ tools: [QUICK, PLAIN], model, ...script });
}

const ran = (script: Partial<Script> = {}): Shell => settle(shellOf(script));

/** For each execution of a tool whether it was tried within the task. */
const tries = (shell: Shell): readonly boolean[] =>
  started(shell, 'execute_tool').map(({ local }) => local === true);

test('a read that is declared quick is tried within the task, once and for at most a second', () => {
  const [effect] = started(ran(), 'execute_tool');
  expect(effect).toMatchObject({ local: true, limits: { attemptMs: 1_000, maximumAttempts: 1 } });
  expect(effect!.input.quick).toEqual({ effectId: effect!.id, ms: 1_000, brief: true });
});

test.each<[string, Partial<Script>]>([
  ['older rules', { rules: WITHOUT_QUICK }],
  ['no declaration', { tools: [PLAIN], model: [calls(call('a', 'x_plain', {})), says('ok')] }],
  ['a queue of its own', { tools: [{ ...QUICK, queue: 'heavy' }] }],
  ['a price', { tools: [{ ...QUICK, maxCostMicroUsd: 10 }] }],
  ['an effect', { tools: [{ ...QUICK, effect: 'write', idempotency: 'keyed' }] }],
  ['no repetition', { tools: [{ ...QUICK, idempotency: 'unknown' }] }],
  ['less time than that', { budget: { timeoutMs: 900 } }],
])('with %s it is an ordinary activity', (_, script) => {
  expect(tries(ran(script))).toEqual([false]);
});

test('three in a row are tried within a task, and the fourth call ends it', () => {
  const five = ['a', 'b', 'c', 'd', 'e'].map(quick);
  const shell = ran({ model: [calls(...five), says('ok')] });
  expect(tries(shell)).toEqual([true, true, true, false, true]);
});

test('a row has a second for all of its attempts together', () => {
  const outcomes = { x_quick: [{ ok: 1, delayMs: 600 }, { ok: 2, delayMs: 200 }, { ok: 3 }] };
  const shell = ran({ model: [calls(quick('a'), quick('b'), quick('c')), says('ok')], outcomes });
  expect(tries(shell)).toEqual([true, true, false]);
  const given = started(shell, 'execute_tool').map(({ input }) => input.quick?.ms);
  expect(given).toEqual([1_000, 400, undefined]);
});

test('while one is tried no other call of its turn begins, nor beside one that is under way', () => {
  const shell = shellOf({
    model: [calls(quick('a'), call('b', 'x_plain', {}), quick('c')), says('ok')],
    settings: { toolExecution: 'batched' },
    outcomes: { x_quick: [{ ok: 1, delayMs: 50 }], x_plain: [{ ok: 2, delayMs: 50 }] },
  });
  while (started(shell, 'execute_tool').length === 0) tick(shell);
  expect(tries(shell)).toEqual([true]);
  expect(tries(settle(shell))).toEqual([true, false, false]);
});

describe('without an answer', () => {
  const elsewhere = (reason: 'timeout' | 'unserved' | 'store' | 'failed'): ToolEntry => ({
    elsewhere: reason,
  });

  test('the same call goes at once as an ordinary activity, told and counted once', () => {
    const shell = ran({ outcomes: { x_quick: [elsewhere('unserved'), { ok: 'read' }] } });
    expect(tries(shell)).toEqual([true, false]);
    const [first, second] = started(shell, 'execute_tool');
    expect(second!.input.call).toEqual(first!.input.call);
    expect(second!.input.quick).toBeUndefined();
    expect(ofType(shell, 'tool_started')).toHaveLength(1);
    expect(ofType(shell, 'tool_finished')).toMatchObject([{ status: 'ok' }]);
    expect(resultOf(shell).usage).toBeDefined();
    expect(shell.run.tally.toolCalls).toBe(1);
  });

  test('a failure of the tool counts among those that are retried', () => {
    const retried = (reason: 'failed' | 'store') =>
      started(ran({ outcomes: { x_quick: [elsewhere(reason), { ok: 1 }] } }), 'execute_tool').map(
        ({ input }) => input.maxRetries,
      );
    const [all, left] = retried('failed');
    expect(left).toBe(all! - 1);
    expect(retried('store')).toEqual([all, all]);
  });

  test('twice for want of time its tool is an ordinary one for the rest of the run', () => {
    const model = ['a', 'b', 'c'].map((id) => calls(quick(id)));
    const late = elsewhere('timeout');
    const outcomes = { x_quick: [late, { ok: 1 }, late, { ok: 2 }, { ok: 3 }] };
    const shell = ran({ model: [...model, says('ok')], outcomes });
    expect(tries(shell)).toEqual([true, false, true, false, false]);
  });

  test('that is so too where the attempt ended without a word', () => {
    const model = ['a', 'b', 'c'].map((id) => calls(quick(id)));
    const failure = failureOf({ message: 'late', timedOut: true }, { attemptMs: 1_000 });
    const outcomes = { x_quick: [{ failure }, { ok: 1 }, { failure }, { ok: 2 }, { ok: 3 }] };
    const shell = ran({ model: [...model, says('ok')], outcomes });
    expect(tries(shell)).toEqual([true, false, true, false, false]);
    expect(ofType(shell, 'tool_finished').map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  });
});

describe('a task that may have been tried before', () => {
  /** The next outcome is heard so much later than it came. */
  function delay(shell: Shell, ms: number): void {
    const [next, ...others] = shell.awaited;
    const { due, make } = next!;
    const later = { ...next!, due: due + ms, make: (at: number) => ({ ...make(at - ms), at }) };
    shell.awaited = [later, ...others];
  }

  function heardLate(script: Partial<Script>, ms: number): Shell {
    const shell = shellOf(script);
    while (started(shell, 'call_model').length === 0) tick(shell);
    delay(shell, ms);
    return settle(shell);
  }

  test.each<[string, readonly boolean[], Partial<Script>, number]>([
    ['six seconds late is one', [false], {}, 6_000],
    ['five seconds late is none', [true], {}, 5_000],
    ['is no matter of older rules', [true], { rules: LATE_IS_QUICK }, 60_000],
  ])('%s', (_, tried, script, ms) => {
    expect(tries(heardLate(script, ms))).toEqual(tried);
  });

  test('its call is an ordinary activity, and the call after it is tried within a task again', () => {
    const model = [calls(quick('a'), quick('b')), calls(quick('c')), says('ok')];
    expect(tries(heardLate({ model }, 10_000))).toEqual([false, true, true]);
  });

  test('is one that a person began, whose word does not tell when it came', () => {
    const tools = [tool('x_quick', { quick: true, approval: { roles: [], quorum: 1 } })];
    const played = (rules?: number) => {
      const shell = settle(shellOf({ tools, ...(rules !== undefined && { rules }) }));
      answer(shell);
      return tries(settle(shell));
    };
    expect(played()).toEqual([false]);
    expect(played(LATE_IS_QUICK)).toEqual([true]);
  });
});

test('an interrupt that comes meanwhile is heard behind it, and ends the run', () => {
  const shell = shellOf({ outcomes: { x_quick: [{ ok: 1, delayMs: 800 }] } });
  while (started(shell, 'execute_tool').length === 0) tick(shell);
  post(shell, { type: 'interrupt' });
  activate(shell);
  expect(resultOf(settle(shell)).stopReason).toBe('interrupted');
});

test('what is known of a tool goes along into the next segment', () => {
  const model = ['a', 'b', 'c'].map((id) => calls(quick(id)));
  const late: ToolEntry = { elsewhere: 'timeout' };
  const shell = shellOf({
    model: [...model, says('ok')],
    outcomes: { x_quick: [late, { ok: 1 }, late, { ok: 2 }, { ok: 3 }] },
  });
  while (started(shell, 'execute_tool').length < 4) tick(shell);
  crossSegment(shell);
  expect(tries(settle(shell)).at(-1)).toBe(false);
  expect(RULES_VERSION).toBeGreaterThan(WITHOUT_QUICK);
});
