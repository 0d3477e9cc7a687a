/** Properties: whatever people say, in whatever order, only what somebody agreed to runs, exactly as agreed. */
import fc from 'fast-check';
import type { Decision } from '../../../core/state/ask.js';
import { canonicalJson } from '../../../core/json/json.js';
import { PERMISSION_MODES } from '../../../core/state/permission-mode.js';
import type { Settings } from '../../../core/state/settings.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import { call, calls, decisionOn, says, tool, type Script } from '../script.js';
import {
  createShell,
  crossSegment,
  finish,
  ofType,
  send,
  started,
  tick,
  type Outside,
  type Shell,
} from '../shell.js';
import { drawsOf } from '../../properties.js';
import { WHOLE } from '../../seed.js';

const AMOUNTS = [1, 2, 3];
const PAYS = { effect: 'financial', idempotency: 'keyed' } as const;
const TOOLS = [
  tool('issue_refund', { ...PAYS, approval: { roles: [], quorum: 2 } }),
  tool('x_pay', { ...PAYS, approval: { roles: ['chief'], quorum: 1 } }),
  tool('x_write', { effect: 'write', idempotency: 'keyed', approval: { roles: [], quorum: 1 } }),
  tool('ask_customer', { kind: 'human_input', effect: 'none' }),
];

const proposed = fc.tuple(
  fc.constantFrom('issue_refund', 'x_pay', 'x_write', 'ask_customer'),
  fc.constantFrom(...AMOUNTS),
);
const reply = fc
  .array(proposed, { minLength: 1, maxLength: 3 })
  .map((tools) =>
    calls(...tools.map(([name, amount], index) => call(`c${index}`, name, { amount }))),
  );

const script: fc.Arbitrary<Script> = fc.record({
  model: fc.array(reply, { minLength: 1, maxLength: 3 }).map((turns) => [...turns, says('done')]),
  tools: fc.constant(TOOLS),
  settings: fc.record<Partial<Settings>>({
    onBudget: fc.constantFrom('stop', 'ask'),
    toolExecution: fc.constantFrom('serial', 'batched', 'dataflow'),
    permissionMode: fc.constantFrom('default', 'default', 'acceptEdits', 'dontAsk'),
    onApprovalTimeout: fc.constantFrom('reject', 'stop'),
    allowStandingGrants: fc.boolean(),
    allowBypassPermissions: fc.boolean(),
  }),
  budget: fc.record({ maxToolCalls: fc.constantFrom(1, 1, 50), maxTurns: fc.constantFrom(2, 20) }),
  outcomes: fc.constantFrom<NonNullable<Script['outcomes']>>(
    {},
    { x_write: [{ keyConflict: true }, { ok: 1 }], x_pay: [{ ambiguous: '?' }, { ok: 1 }] },
  ),
  check: fc.constantFrom<NonNullable<Script['check']>>(
    () => ({ ok: true }),
    (_tool, args) =>
      (args as { amount?: number }).amount === 3
        ? { ok: false, code: 'invalid_arguments', message: 'three is too many' }
        : { ok: true },
  ),
  policy: fc.constantFrom<NonNullable<Script['policy']>>(
    [],
    [{ tool: 'issue_refund', decision: 'deny', when: { path: 'amount', gte: 3 } }],
  ),
});

type Action = (shell: Shell) => void;

const decision: fc.Arbitrary<Partial<Decision>> = fc.record(
  {
    decision: fc.constantFrom('approve', 'approve', 'reject', 'modify', 'replace'),
    by: fc.constantFrom('ann', 'bob', 'cid'),
    roles: fc.constantFrom([], ['chief']),
    args: fc.constantFrom(...AMOUNTS).map((amount) => ({ amount })),
    tool: fc.constantFrom('x_pay', 'x_write', 'nope'),
    amount: fc.constantFrom(1, 100),
    grant: fc.constant({
      matcher: { tool: 'x_write', when: [{ path: 'amount', lte: 2 }] },
      uses: 1,
      expiresInMs: 1_000,
    }),
    nonce: fc.constantFrom('n1', 'n2'),
  },
  { requiredKeys: ['decision', 'by', 'roles', 'args', 'tool'] },
);

const decides: fc.Arbitrary<Action> = fc
  .record({ which: fc.nat({ max: 2 }), changes: decision })
  .map(({ which, changes }) => (shell) => {
    const { asks } = viewOfRun(shell.run);
    const ask = asks[which % Math.max(1, asks.length)];
    if (ask === undefined) return;
    const ticket = `t${shell.tickets.length}`;
    const what = decisionOn(ask, { decidedAt: shell.now, ...changes });
    send(shell, { type: 'decision', decision: what, ticket });
  });

const moves: fc.Arbitrary<Action> = fc.constantFrom<Action>(
  (shell) => void tick(shell),
  (shell) => void tick(shell),
  (shell) => {
    const ask = viewOfRun(shell.run).asks.find(({ kind }) => kind === 'input');
    const askId = ask?.askId ?? 'run_1:0';
    send(shell, { type: 'input_provided', askId, value: 'yes', by: 'cora' });
  },
);

const refusesBudget: Action = (shell) => {
  const ask = viewOfRun(shell.run).asks.find(({ kind }) => kind === 'budget');
  if (ask === undefined) return;
  send(shell, { type: 'decision', decision: decisionOn(ask, { decision: 'reject' }) });
};

const rare: fc.Arbitrary<Action> = fc.oneof(
  fc.constant(refusesBudget),
  fc.constantFrom(...PERMISSION_MODES).map((mode) => sends({ type: 'set_permission_mode', mode })),
  fc.constant<Action>((shell) => void tick(shell, { timers: true })),
  fc.constant(sends({ type: 'interrupt' })),
  fc.constant<Action>((shell) => {
    if (shell.run.stopping === undefined && shell.run.interrupt === undefined) cross(shell);
  }),
);

function sends(...inputs: readonly Outside[]): Action {
  return (shell) => send(shell, ...inputs);
}

/** Continues as new unless the run comes to its end first. */
function cross(shell: Shell): void {
  try {
    crossSegment(shell);
  } catch (error) {
    if (shell.run.final?.kind !== 'result') throw error;
  }
}

const actions = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: decides },
    { weight: 10, arbitrary: moves },
    { weight: 3, arbitrary: rare },
  ),
  { minLength: 5, maxLength: 40 },
);

const PLACES = [
  'approved',
  'rejected',
  'modified',
  'replaced',
  'expired',
  'input answered',
  'input approved',
  'input rejected',
  'correction_refused',
  'permission_mode',
  'key_conflict',
  'mode',
  'grant',
];
const seen = new Set<string>();

function look(shell: Shell): void {
  for (const event of ofType(shell, 'approval_resolved')) seen.add(event.outcome);
  for (const event of ofType(shell, 'input_provided')) seen.add(`input ${event.outcome}`);
  for (const event of ofType(shell, 'warning')) seen.add(event.code);
  for (const event of ofType(shell, 'permission')) seen.add(event.rule.split(':')[0]!);
}

test('only what somebody agreed to runs, everybody gets a verdict, and the run ends', () => {
  fc.assert(
    fc.property(script, actions, (what, during) => {
      const shell = createShell(what);
      for (const action of during) if (shell.run.final === undefined) action(shell);
      finish(shell);
      look(shell);
      expect(shell.run.asks.filter((ask) => ask.outcome === 'pending')).toEqual([]);
      const answered = shell.verdicts.map(({ ticket }) => ticket).toSorted();
      expect(answered).toEqual(shell.tickets.toSorted());
      for (const { input } of started(shell, 'execute_tool')) {
        expect(input.grant.digest).toBe(input.call.digest);
        if (input.grant.reference === 'tool') throw new Error(`nobody agreed to ${input.call.key}`);
      }
      const keys = started(shell, 'execute_tool').map(({ input: { call: one } }) => {
        return [`${one.key} ${one.attempt}`, canonicalJson(one.args)];
      });
      expect(new Map(keys as [string, string][]).size).toBe(keys.length);
    }),
    drawsOf(350, 20_260_203),
  );
  // The property is worth something only as long as the whole of it gets everywhere.
  if (WHOLE) expect(PLACES.filter((place) => !seen.has(place))).toEqual([]);
});
