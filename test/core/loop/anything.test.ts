/** Properties: whatever comes in, in whatever order, a run stays consistent and comes to an end. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { Decision } from '../../../core/state/ask.js';
import type { Limit } from '../../../core/state/budget-fields.js';
import type { Input } from '../../../core/state/input.js';
import { PERMISSION_MODES, type PermissionMode } from '../../../core/state/permission-mode.js';
import type { PolicyRule } from '../../../core/state/policy.js';
import { DEFAULT_TOKEN_BUDGET } from '../../../core/state/token-budget.js';
import { HOOK_POINTS, type HookNames } from '../../../core/state/hook.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import {
  call,
  calls,
  decisionOn,
  failure,
  says,
  withReply,
  type HookEntry,
  type ModelEntry,
  type Script,
  type ToolEntry,
} from '../script.js';
import {
  activate,
  createShell,
  crossSegment,
  finish,
  send,
  started,
  tick,
  type Outside,
  type Shell,
} from '../shell.js';
import { drawsOf } from '../../properties.js';

const TOOLS = [
  'read_order',
  'write_note',
  'send_email',
  'issue_refund',
  'shell',
  'ask_customer',
  'nope',
  '__proto__',
];

const proposal = fc
  .array(fc.tuple(fc.constantFrom(...TOOLS), fc.constantFrom('1', '2', ' ')), {
    minLength: 1,
    maxLength: 4,
  })
  .map((tools) =>
    calls(...tools.map(([name, orderId], index) => call(`c${index}`, name, { orderId }))),
  );

const reply: fc.Arbitrary<ModelEntry> = fc.oneof(
  { weight: 5, arbitrary: proposal },
  { weight: 3, arbitrary: fc.constantFrom(...['answer', '', ' '].map((text) => says(text))) },
  { weight: 1, arbitrary: fc.constant(says('cut', { stop: 'max_tokens' })) },
  { weight: 1, arbitrary: proposal.map((one) => withReply(one, { stop: 'max_tokens' })) },
  { weight: 1, arbitrary: fc.constantFrom(failure('Overloaded'), failure('PromptTooLong')) },
  {
    weight: 1,
    arbitrary: proposal.map((one) => ({ ...says('late'), partial: one.reply, delayMs: 50 })),
  },
);

const entry: fc.Arbitrary<ToolEntry> = fc.constantFrom<ToolEntry>(
  { ok: 1 },
  { ok: 2, delayMs: 40 },
  { error: 'no' },
  { error: 'down', code: 'retryable_error', attempts: 2 },
  { ambiguous: 'reset' },
  { keyConflict: true },
  failure('Internal', { timedOut: true }),
);
const entries = fc.array(entry, { minLength: 1, maxLength: 4 });

const hookEntry: fc.Arbitrary<HookEntry> = fc.constantFrom<HookEntry>(
  {},
  { error: 'boom' },
  { decision: 'deny' },
  { decision: 'ask', delayMs: 30 },
  { updatedInput: { orderId: '2' } },
  { blockingErrors: ['again'] },
  { preventContinuation: true },
  { systemMessages: ['psst'], delayMs: 9_000 },
  { additionalContext: 'hello' },
  failure('Internal'),
);
const hookEntries = fc.array(hookEntry, { maxLength: 4 });
/** Each point has a hook of its own name, or none. */
const hookNames: fc.Arbitrary<HookNames> = fc
  .subarray([...HOOK_POINTS])
  .map((points) => Object.fromEntries(points.map((point) => [point, [point]])));
const hooks = fc.record(Object.fromEntries(HOOK_POINTS.map((point) => [point, hookEntries])));

const script: fc.Arbitrary<Script> = fc.record({
  hookNames,
  hooks,
  model: fc.array(reply, { maxLength: 8 }),
  outcomes: fc.record({
    read_order: entries,
    write_note: entries,
    send_email: entries,
    shell: entries,
  }),
  findings: fc.array(
    fc.constantFrom(
      { kind: 'unknown', message: '?' } as const,
      { kind: 'not_happened' } as const,
      { kind: 'happened', source: 'tool', content: { text: 'x' } } as const,
    ),
    { minLength: 1, maxLength: 3 },
  ),
  settings: fc.record({
    afterAnswer: fc.constantFrom('complete', 'await_user'),
    onOutcomeUnknown: fc.constantFrom('ask', 'observe', 'stop'),
    onApprovalTimeout: fc.constantFrom('reject', 'stop'),
    onDeny: fc.constantFrom('observe', 'refuse'),
    budgetOverrunPolicy: fc.constantFrom('complete', 'stop'),
    timeoutCounts: fc.constantFrom('active', 'wall'),
    interruptMode: fc.constantFrom('stop', 'pause'),
    wrapUpTurn: fc.boolean(),
    fallbackModel: fc.constantFrom(null, 'scripted/spare'),
    fallbackSticky: fc.constantFrom('turn', 'session'),
    tokenBudget: fc.constantFrom(null, { ...DEFAULT_TOKEN_BUDGET, targetOutputTokens: 400 }),
    approvalMode: fc.constantFrom('wait', 'wait', 'stop'),
    onBudget: fc.constantFrom('stop', 'ask'),
    permissionMode: fc.constantFrom(...PERMISSION_MODES),
    allowBypassPermissions: fc.boolean(),
    allowStandingGrants: fc.constant(true),
    maxTokensStrategy: fc.constantFrom('auto', 'compact_first', 'continue_only', 'stop'),
    compactionMetric: fc.constantFrom('context', 'cumulative'),
    minTurnsBetweenCompactions: fc.constantFrom(0, 2),
  }),
  budget: fc.record({
    maxTurns: fc.constantFrom(0, 2, 20),
    maxToolCalls: fc.constantFrom(0, 2, 50),
    timeoutMs: fc.constantFrom(30, 1_800_000),
    maxCostMicroUsd: fc.constantFrom<Limit>(1, 12_000, 5_000_000, 'unlimited'),
    maxOutputTokens: fc.constantFrom(150, 200_000),
    maxReactiveCompactions: fc.constantFrom(0, 1, 3),
    compactionThreshold: fc.constantFrom(0, 0.8),
  }),
  policy: fc.constantFrom<readonly PolicyRule[]>(
    [],
    [{ tool: 'send_email', decision: 'allow' }],
    [
      { tool: 'shell', decision: 'sandbox' },
      { tool: 'write_*', decision: 'ask' },
    ],
  ),
  check: fc.constantFrom<NonNullable<Script['check']>>(
    () => ({ ok: true }),
    (_tool, args) =>
      isDeepStrictEqual(args, { orderId: '7' })
        ? { ok: true }
        : { ok: false, code: 'invalid_arguments', message: 'no' },
  ),
  flushFailures: fc.nat({ max: 2 }),
  routes: fc.constant({ 'scripted/spare': {}, 'scripted/m2': { contextWindow: 5_000 } }),
  contextWindow: fc.constantFrom(1_100, 1_300, 200_000),
  compactions: fc.array(
    fc.constantFrom({}, { tokens: 10 }, { tokens: 150_000 }, failure('Internal')),
    { maxLength: 3 },
  ),
});

type Action = (shell: Shell) => void;

function decides(changes: Partial<Decision>): Action {
  return (shell) => {
    const asks = viewOfRun(shell.run).asks;
    const ask = asks[0] ?? { askId: 'run_1:0', argsHash: 'x', openedAt: 1 };
    send(shell, {
      type: 'decision',
      decision: decisionOn(ask as (typeof asks)[0], changes),
      ticket: `t${shell.orders}-${shell.verdicts.length}`,
    });
  };
}

/** An answer to whatever is asked, and a mode, together in one activation. */
function answersUnder(mode: PermissionMode): Action {
  return (shell) => {
    const askId = viewOfRun(shell.run).asks.at(-1)?.askId ?? 'run_1:0';
    send(
      shell,
      { type: 'input_provided', askId, value: 'yes', by: 'cora' },
      { type: 'set_permission_mode', mode },
    );
  };
}

const GRANT = {
  matcher: { tool: 'issue_refund', when: [{ path: 'orderId', exists: true }] },
  uses: 2,
  expiresInMs: 1_000,
};

function sends(...inputs: readonly Outside[]): Action {
  return (shell) => send(shell, ...inputs);
}

/** An effect that nobody waits for any more, or never did. */
function strays(id: string): Action {
  return (shell) => {
    const output = { eventsUpTo: 0 };
    shell.inbox.push({ type: 'timer_fired', id, at: shell.now } as Input);
    shell.inbox.push({ type: 'flushed', id: `x${id}`, output, at: shell.now } as Input);
    activate(shell);
  };
}

const OFTEN: readonly Action[] = [
  (shell) => void tick(shell),
  decides({}),
  decides({ decision: 'happened', value: { x: 1 } }),
  decides({ decision: 'not_happened', by: 'ann' }),
  decides({ decision: 'modify', args: { orderId: '7' } }),
  decides({ decision: 'replace', tool: 'write_note', args: { orderId: '8' }, by: 'ann' }),
  answersUnder('default'),
  sends({ type: 'user_message', text: 'hello', id: 'm' }, { type: 'user_message', text: 'more' }),
];
const RARELY: readonly Action[] = [
  decides({ decision: 'reject' }),
  decides({ amount: 1_000_000 }),
  decides({ grant: GRANT }),
  answersUnder('plan'),
  answersUnder('acceptEdits'),
  answersUnder('bypassPermissions'),
  decides({ argsHash: '' }),
  decides({ askId: 'run_1:1:0' }),
  decides({ decidedAt: Number.MAX_SAFE_INTEGER }),
  decides({ decision: 'stop' }),
  sends({ type: 'interrupt' }),
  sends({ type: 'cancel_requested' }),
  sends({ type: 'close' }),
  sends({ type: 'set_model', model: 'scripted/m2' }),
  sends(
    { type: 'set_model', model: 'nobody/knows' },
    { type: 'set_max_thinking_tokens', tokens: 0 },
  ),
  sends({ type: 'input_provided', askId: '__proto__', value: null, by: 'x' }),
  sends({ type: 'input_rejected', message: 'signal', reason: 'x'.repeat(9_000) }),
  strays('__proto__'),
  strays('timer-77'),
  (shell) => void tick(shell, { timers: true }),
  (shell) => {
    if (shell.run.stopping === undefined && shell.run.interrupt === undefined) tryToCross(shell);
  },
];

/** Continues as new unless the run comes to its end first. */
function tryToCross(shell: Shell): void {
  try {
    crossSegment(shell);
  } catch (error) {
    if (shell.run.final?.kind !== 'result') throw error;
  }
}

const actions = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...OFTEN) },
    { weight: 1, arbitrary: fc.constantFrom(...RARELY) },
  ),
  { maxLength: 25 },
);

test('every run keeps its invariants, stays plain JSON and comes to an end', () => {
  fc.assert(
    fc.property(script, actions, (what, during) => {
      const shell = createShell(what);
      for (const action of during) {
        if (shell.run.final === undefined) action(shell);
      }
      const result = finish(shell);
      expect(result.completed).toBe(result.stopReason === 'completed');
      expect(shell.run.inflight).toEqual({});
      expect(shell.verdicts.map(({ ticket }) => ticket).toSorted()).toEqual(
        shell.tickets.toSorted(),
      );
      expect(shell.run.asks.filter((ask) => ask.outcome === 'pending')).toEqual([]);
      const attempts = started(shell, 'execute_tool').map(
        ({ input: { call: one } }) => `${one.key} ${one.attempt}`,
      );
      expect(new Set(attempts).size).toBe(attempts.length);
      const ends = started(shell, 'run_hooks').filter(({ input }) => input.point === 'SessionEnd');
      const opened = shell.run.frozen !== undefined;
      expect(ends).toHaveLength(opened && what.hookNames?.SessionEnd !== undefined ? 1 : 0);
    }),
    drawsOf(300, 20_260_101),
  );
});
