/** A task that goes to another run: what that run is given, and what becomes of it when it cannot be started (G66). */
import { call, calls, says, tool, type Script } from '../script.js';
import { codesOf, createShell, finish, ofType, send, started, tick, type Shell } from '../shell.js';

const HANDOFF = tool('handoff', { kind: 'handoff', effect: 'none' });

function handing(more: Partial<Script> = {}): Shell {
  return createShell({
    tools: [HANDOFF],
    handoffTo: [{ agent: 'billing', filter: 'summary', run: 'new' }],
    model: [
      calls(call('h', 'handoff', { to: 'billing', summary: 'The order is paid.' })),
      says('I finish it.'),
    ],
    ...more,
  });
}

function untilStarting(shell: Shell): void {
  for (let ticks = 0; shell.run.handoff?.starts?.stage !== 'starting'; ticks += 1) {
    if (ticks > 100) throw new Error('It never starts the other run.');
    tick(shell);
  }
}

test('The run that hands over ends as completed, names the other run, and says once that it is there.', () => {
  const shell = handing();
  const result = finish(shell);
  expect(result).toMatchObject({
    stopReason: 'completed',
    detail: 'handed_off',
    handedTo: { runId: 'run_1:h1', agent: 'billing' },
  });
  expect(result).not.toHaveProperty('answer');
  const told = { to: 'billing', by: 'case', because: 'The order is paid.' };
  const other = { runId: 'run_1:h1', n: 1, callId: 'h', filter: 'summary' };
  expect(ofType(shell, 'handoff')).toMatchObject([{ ...told, started: other }]);
  expect(shell.effects.filter(({ kind }) => kind === 'start_child')).toHaveLength(1);
});

test('Of each budget the other run gets what is left.', () => {
  const shell = handing({
    tools: [HANDOFF, tool('read_order')],
    budget: {
      maxTurns: 9,
      maxToolCalls: 4,
      maxCostMicroUsd: 500_000,
      maxOutputTokens: 'unlimited',
    },
    model: [
      calls(call('a', 'read_order', { orderId: '1' })),
      calls(call('h', 'handoff', { to: 'billing', summary: 'Yours.' })),
    ],
  });
  const { costMicroUsd } = finish(shell);
  const [handed] = started(shell, 'prepare_handoff');
  const budget = handed?.input.start.budget;
  expect(budget).toMatchObject({
    maxTurns: 7,
    maxToolCalls: 3,
    maxCostMicroUsd: 500_000 - costMicroUsd,
    maxOutputTokens: 'unlimited',
  });
  expect(budget).not.toHaveProperty('maxTokensPerResponse');
});

test.each(['run', 'goal'] as const)('A task that a %s waits for goes to no other run.', (kind) => {
  const shell = handing({ parent: { kind, id: 'parent_1', n: 1, digest: 'd' } });
  expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
  expect(codesOf(shell)).toEqual({ h: 'tool_not_allowed' });
  expect(started(shell, 'prepare_handoff')).toEqual([]);
});

test('A number that an earlier run has is passed over, and what that run cost is paid.', () => {
  const plain = finish(handing()).costMicroUsd;
  const shell = handing({ handed: [{ taken: { costMicroUsd: 1_234 } }] });
  const result = finish(shell);
  expect(result.handedTo?.runId).toBe('run_1:h2');
  expect(result.costMicroUsd).toBe(plain + 1_234);
  const budgets = started(shell, 'prepare_handoff').map(({ input }) => input.start.budget);
  const [first, second] = budgets.map((budget) => Number(budget?.maxCostMicroUsd));
  expect(first! - second!).toBe(1_234);
});

test('Numbers that are always taken end the run, which has handed nothing over.', () => {
  const taken = Array.from({ length: 30 }, () => ({ taken: { costMicroUsd: 0 } }));
  const shell = handing({ handed: taken });
  expect(finish(shell)).toMatchObject({ stopReason: 'failed', detail: 'handoff_failed' });
  expect(ofType(shell, 'handoff')).toEqual([]);
});

test('An id that was in use is looked at before the run counts as handed over.', () => {
  const shell = handing({ handed: [{ existed: true }] });
  expect(finish(shell).handedTo?.runId).toBe('run_1:h1');
  const looks = started(shell, 'prepare_handoff').map(({ input }) => input.existed ?? false);
  expect(looks).toEqual([false, true]);
});

test('A row that cannot be written ends the run with the reason.', () => {
  const failure = { code: 'StoreUnavailable', message: 'No store.', attempts: 1 } as const;
  const shell = handing({ handed: [{ notPrepared: failure }] });
  const result = finish(shell);
  expect(result).toMatchObject({ stopReason: 'failed', detail: 'handoff_failed' });
  expect(result.nextSafeAction).toBe('No store.');
});

test.each([
  ['interrupt', 'interrupted'],
  ['cancel_requested', 'aborted'],
] as const)('A run that gets a %s while it starts the other one takes it back.', (type, reason) => {
  const shell = handing({ handed: [{ startsMs: 1_000 }] });
  untilStarting(shell);
  send(shell, { type });
  const result = finish(shell);
  expect(result.stopReason).toBe(reason);
  expect(result).not.toHaveProperty('handedTo');
  expect(shell.effects.filter(({ kind }) => kind === 'tell_child')).toEqual([
    { kind: 'tell_child', child: 'run_1:h1', message: 'cancel' },
  ]);
});

test('A run that is stopped before it is known whose run has the id of the other one tells that run nothing.', () => {
  const shell = handing({ handed: [{ startsMs: 1_000, existed: true }] });
  untilStarting(shell);
  send(shell, { type: 'interrupt' });
  expect(finish(shell).stopReason).toBe('interrupted');
  expect(shell.effects.filter(({ kind }) => kind === 'tell_child')).toEqual([]);
});

test('What the user says meanwhile is told to the other run.', () => {
  const shell = handing({ handed: [{ startsMs: 1_000 }] });
  untilStarting(shell);
  send(shell, { type: 'user_message', text: 'Pay in euro.' });
  expect(finish(shell)).not.toHaveProperty('unprocessed');
  expect(shell.effects.filter(({ kind }) => kind === 'tell_child')).toMatchObject([
    { child: 'run_1:h1', message: 'say', text: 'Pay in euro.' },
  ]);
});

test('A budget that is used up ends the run before anything is handed over.', () => {
  const shell = handing({ budget: { maxTurns: 1 } });
  expect(finish(shell).stopReason).toBe('max_turns');
  expect(started(shell, 'prepare_handoff')).toEqual([]);
});

test('A task comes to an end after eight handoffs, over all runs that had it.', () => {
  const handedFrom = { runId: 'run_0', agent: 'desk', callId: 'h', handoffs: 8 };
  const late = handing({ handedFrom });
  expect(finish(late).stopReason).toBe('completed');
  expect(codesOf(late)).toEqual({ h: 'limit_exceeded' });
});

test('A run of older rules starts no other run.', () => {
  const shell = handing({ rules: 17 });
  finish(shell);
  expect(codesOf(shell)).toEqual({ h: 'tool_not_allowed' });
  expect(shell.effects.map(({ kind }) => kind)).not.toContain('start_child');
});
