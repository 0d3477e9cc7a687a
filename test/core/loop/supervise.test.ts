/** A supervisor looks at a run between two requests, and steers it, interrupts it, or asks a person. */
import { forkRun } from '../../../core/loop/fork.js';
import { asksModel, limits } from '../../../core/loop/next-request.js';
import { supervise } from '../../../core/loop/supervise.js';
import { committedMicroUsd } from '../../../core/money/budget.js';
import type { Fork } from '../../../core/state/fork.js';
import type { OpenRun } from '../../../core/state/run.js';
import { SUPERVISION_LIMITS } from '../../../core/state/supervision.js';
import { statusOf } from '../../../core/loop/run-result.js';
import { call, calls, says, tool, usage, type Script } from '../script.js';
import {
  askOf,
  createShell,
  crossSegment,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  started,
  tick,
  until,
  warningsOf,
} from '../shell.js';

const reads = (id: string) => calls(call(id, 'read_order'));
const TWO_READS = { tools: [tool('read_order')], model: [reads('a'), reads('b'), says('done')] };
const EACH_TURN: Script = { ...TWO_READS, supervisor: { everyTurns: 1 } };
const STEER = { word: { decision: 'steer', because: 'lost', text: 'Read order 2.' } } as const;
const ASK = { word: { decision: 'ask', because: 'unclear', text: 'Which order?' } } as const;
const INTERRUPT = { word: { decision: 'interrupt', because: 'wrong' } } as const;
const answerTo = (askId: string, value: string) =>
  ({ type: 'input_provided', askId, value, by: 'kim' }) as const;

/** Up to the moment in which a look is under way. */
function untilLook(shell: ReturnType<typeof createShell>): void {
  while (started(shell, 'ask_supervisor').length === 0) {
    if (!tick(shell, { timers: true })) throw new Error('no look came');
  }
}

test('a look comes after each turn and before the next request, and sees each event once', () => {
  const shell = createShell({ ...EACH_TURN });
  finish(shell);
  const looks = started(shell, 'ask_supervisor').map(({ input }) => input);
  expect(looks.map(({ number }) => number)).toEqual([1, 2]);
  expect(looks[0]).toMatchObject({ from: 0 });
  expect(looks[1]!.from).toBe(looks[0]!.to);
  const order = shell.effects.map(({ kind }) => kind);
  const [first, second] = order.flatMap((kind, at) => (kind === 'ask_supervisor' ? [at] : []));
  const asked = order.flatMap((kind, at) => (kind === 'call_model' ? [at] : []));
  expect(
    asked[0]! < first! && first! < asked[1]! && asked[1]! < second! && second! < asked[2]!,
  ).toBe(true);
  expect(ofType(shell, 'supervision').map(({ stamp }) => stamp.rule)).toEqual([
    'supervise',
    'supervise',
  ]);
});

test('nothing is looked at under older rules, nor where the agent names nobody', () => {
  for (const script of [{ ...EACH_TURN, rules: 16 }, TWO_READS]) {
    const shell = createShell(script);
    finish(shell);
    expect(started(shell, 'ask_supervisor')).toEqual([]);
  }
});

test('an event that calls for a look brings one, others do not', () => {
  const shell = createShell({
    ...TWO_READS,
    model: [reads('a'), says(' '), says('done')],
    supervisor: { on: ['tool_finished'] },
  });
  finish(shell);
  expect(started(shell, 'ask_supervisor')).toHaveLength(1);
  expect(requestsOf(shell)).toHaveLength(3);
});

test('words of a supervisor reach the next request, as words of a named sender, between marks', () => {
  const shell = createShell({ ...EACH_TURN, looks: [STEER] });
  finish(shell);
  const [said] = ofType(shell, 'user_message');
  expect(said?.from).toEqual({ run: shell.run.runId, agent: 'watcher' });
  expect(JSON.stringify(said?.text)).toMatch(
    /<(supervisor-[0-9a-f]{12})>\\nRead order 2\.\\n<\/\1>/,
  );
  expect(JSON.stringify(said?.text)).toContain('approve no action');
});

test('an interrupt of a supervisor ends the run, and the event names the supervisor', () => {
  const shell = createShell({ ...EACH_TURN, looks: [INTERRUPT] });
  expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'before_model' });
  expect(ofType(shell, 'interruption')).toMatchObject([{ by: 'interrupt', supervisor: 'watcher' }]);
  expect(requestsOf(shell)).toHaveLength(1);
});

test('where interrupts pause, a run goes on after its user has spoken; a later interrupt is a person’s', () => {
  const shell = createShell({
    ...EACH_TURN,
    looks: [INTERRUPT],
    settings: { interruptMode: 'pause' },
  });
  settle(shell);
  expect(statusOf(shell.run)).toBe('awaiting_user');
  send(shell, { type: 'user_message', text: 'go on' });
  until(shell, 'supervision');
  send(shell, { type: 'interrupt' });
  settle(shell);
  expect(ofType(shell, 'interruption').map(({ supervisor }) => supervisor)).toEqual([
    'watcher',
    undefined,
  ]);
});

test('a question of a supervisor holds the next request, outlives a segment, and its answer reaches the model', () => {
  const shell = createShell({ ...EACH_TURN, looks: [ASK] });
  until(shell, 'input_request');
  settle(shell);
  expect(askOf(shell)).toMatchObject({
    kind: 'input',
    question: expect.stringContaining('Which order?'),
  });
  expect(requestsOf(shell)).toHaveLength(1);
  crossSegment(shell);
  send(shell, answerTo(askOf(shell).askId, 'The second one.'));
  expect(finish(shell).stopReason).toBe('completed');
  expect(JSON.stringify(ofType(shell, 'user_message')[0]?.text)).toContain(
    'kim answers: The second one.',
  );
});

test('a question that nobody answers in time stops the run for a person', () => {
  const shell = createShell({ ...EACH_TURN, looks: [ASK] });
  expect(finish(shell)).toMatchObject({
    stopReason: 'needs_human',
    detail: 'supervisor_unanswered',
  });
  expect(ofType(shell, 'input_provided')).toMatchObject([{ outcome: 'expired' }]);
});

test('a question that a pause withdraws is not waited for', () => {
  const shell = createShell({ ...EACH_TURN, looks: [ASK], settings: { interruptMode: 'pause' } });
  until(shell, 'input_request');
  send(shell, { type: 'interrupt' });
  settle(shell);
  send(shell, { type: 'user_message', text: 'go on' });
  expect(finish(shell).stopReason).toBe('completed');
});

test('a look is reserved before it leaves, and its cost counts', () => {
  const plain = createShell(TWO_READS);
  const without = finish(plain).costMicroUsd;
  const shell = createShell({ ...EACH_TURN, looks: [usageOf(1_000, 100), usageOf(2_000, 10)] });
  untilLook(shell);
  const [look] = started(shell, 'ask_supervisor');
  const { money } = shell.run as OpenRun;
  expect(money.reserved[look!.id]).toBe(look!.input.bound.costMicroUsd);
  expect(finish(shell).costMicroUsd - without).toBe(1_000 * 3 + 100 * 15 + 2_000 * 3 + 10 * 15);
  expect(committedMicroUsd(shell.run as OpenRun)).toBe(shell.run.money.spentMicroUsd);
});

test('a look without money is left out, told once, and looked for again a turn later', () => {
  const shell = createShell({ ...EACH_TURN, budget: { maxCostMicroUsd: 34_000 } });
  finish(shell);
  expect(started(shell, 'ask_supervisor')).toEqual([]);
  expect(warningsOf(shell).filter((code) => code === 'supervisor_unpaid')).toHaveLength(1);
});

test('a look that fails or says nothing is told, and the run goes on', () => {
  const failure = {
    code: 'NetworkTimeout',
    message: 'down',
    details: { lostCostMicroUsd: 7 },
  } as const;
  const shell = createShell({ ...EACH_TURN, looks: [{ failure }, { invalid: 'it is not JSON' }] });
  const { stopReason, costMicroUsd } = finish(shell);
  expect(stopReason).toBe('completed');
  expect(costMicroUsd).toBe(3 * 4_500 + 7);
  expect(ofType(shell, 'warning').map(({ code, message }) => [code, message])).toEqual([
    ['supervisor_silent', 'watcher: down'],
    ['supervisor_silent', 'watcher: it is not JSON'],
  ]);
});

test('what nobody heard of a look is looked up before anything else is decided', () => {
  const failure = { code: 'NetworkTimeout', message: 'gone' } as const;
  const shell = createShell({
    ...EACH_TURN,
    looks: [{ failure }],
    accounts: [{ costMicroUsd: 50 }],
  });
  const { costMicroUsd } = finish(shell);
  expect(started(shell, 'account_call')).toHaveLength(1);
  expect(costMicroUsd).toBe(3 * 4_500 + 50);
});

test('a supervisor that watches warnings does not look at its own for ever', () => {
  const failure = { code: 'NetworkTimeout', message: 'down' } as const;
  const down = { failure: { ...failure, details: { lostCostMicroUsd: 0 } } };
  const shell = createShell({
    ...TWO_READS,
    supervisor: { everyTurns: 1, on: ['warning'] },
    looks: [down, { invalid: 'it is not JSON' }],
  });
  expect(finish(shell).stopReason).toBe('completed');
  expect(started(shell, 'ask_supervisor')).toHaveLength(2);
});

test('the question of a supervisor and its answer call for no further look', () => {
  const shell = createShell({
    ...TWO_READS,
    supervisor: { everyTurns: 2, on: ['input_request', 'input_provided'] },
    looks: [ASK, ASK],
  });
  until(shell, 'input_request');
  settle(shell);
  send(shell, answerTo(askOf(shell).askId, 'The second one.'));
  expect(finish(shell).stopReason).toBe('completed');
  expect(started(shell, 'ask_supervisor')).toHaveLength(1);
});

test('a model that a person names while a look is under way takes over after the look', () => {
  const shell = createShell({ ...EACH_TURN, routes: { other: { contextWindow: 2_000 } } });
  untilLook(shell);
  send(shell, { type: 'set_model', model: 'other' });
  expect(asksModel(shell.run as OpenRun)).toBe(true);
  expect(limits(shell.run as OpenRun)).toBe('hold');
  expect(started(shell, 'compact')).toEqual([]);
});

test('a person’s interrupt ends a look that is under way', () => {
  const shell = createShell({ ...EACH_TURN });
  untilLook(shell);
  send(shell, { type: 'interrupt' });
  expect(finish(shell).stopReason).toBe('interrupted');
  expect(shell.effects).toContainEqual({
    kind: 'cancel',
    target: started(shell, 'ask_supervisor')[0]!.id,
  });
  expect(warningsOf(shell)).not.toContain('supervisor_silent');
});

test('a run has so many looks and no more', () => {
  const shell = createShell({ ...EACH_TURN });
  untilLook(shell);
  settle(shell);
  const run = shell.run as OpenRun;
  const due = { ...run.supervision!, due: true, looks: SUPERVISION_LIMITS.looks } as const;
  expect(supervise({ ...run, supervision: due })).toBeUndefined();
});

function usageOf(input: number, output: number) {
  return { word: { decision: 'go_on', because: 'fine' } as const, ...usage(input, output) };
}

describe('a fork of a supervised run', () => {
  const forked = (shell: ReturnType<typeof createShell>) => {
    const fork = { run: shell.run, step: 1 } as unknown as Fork;
    const made = forkRun(fork, {
      runId: 'fork',
      taskId: 'fork',
      at: shell.run.now,
      namesKeys: true,
    });
    if (!made.ok) throw new Error(made.reason);
    return made.value.supervision;
  };

  test('is looked at anew where the question of the supervisor was open, or a look was under way', () => {
    const asked = createShell({ ...EACH_TURN, looks: [ASK] });
    until(asked, 'input_request');
    expect(forked(asked)).toMatchObject({ due: true, seen: 0, looks: 1 });
    expect(forked(asked)).not.toHaveProperty('askId');
    const looking = createShell({ ...EACH_TURN });
    untilLook(looking);
    expect(forked(looking)).toMatchObject({ due: true, seen: 0 });
  });

  test('is not looked at again for what its parent was looked at for', () => {
    const shell = createShell({ ...EACH_TURN });
    until(shell, 'supervision');
    expect(forked(shell)).not.toHaveProperty('due');
  });
});
