import type { Json } from '../../../core/json/json.js';
import type { PermissionMode } from '../../../core/state/permission-mode.js';
import type { PolicyRule } from '../../../core/state/policy.js';
import type { Settings } from '../../../core/state/settings.js';
import { call, calls, says, tool, TOOLBOX, type Script } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  started,
  warningsOf,
  type Shell,
} from '../shell.js';

const REFUND = { order: 'O-104', amount: 50 };
const WRITE_ASKS = tool('x_write', {
  effect: 'write',
  idempotency: 'keyed',
  approval: { roles: [], quorum: 1 },
});
const UNKNOWN = tool('x_unknown', {
  effect: 'unknown',
  idempotency: 'none',
  approval: 'by_policy',
});
const TOOLS = [...TOOLBOX, WRITE_ASKS, UNKNOWN];
const ASK_WRITES: PolicyRule = { tool: 'write_note', decision: 'ask' };

function proposing(name: string, args: Json = {}, more: Partial<Script> = {}): Shell {
  const model = [calls(call('a', name, args)), says('done')];
  return settle(createShell({ model, tools: TOOLS, ...more }));
}

function under(
  mode: PermissionMode,
  more: Partial<Settings> = {},
): { settings: Partial<Settings> } {
  return { settings: { permissionMode: mode, ...more } };
}

/** What became of the one call: executed, asked about, or denied. */
function fate(shell: Shell): string {
  if (shell.run.shownStatus === 'awaiting_approval') return 'asks';
  return executedOf(shell).length === 1 ? 'runs' : (codesOf(shell)['a'] ?? 'none');
}

const UNLOCKED = { allowBypassPermissions: true } as const;
const DENIED = 'permission_denied';

describe('a permission mode', () => {
  test.each([
    ['default', 'read_order', 'runs'],
    ['default', 'write_note', 'runs'],
    ['default', 'x_write', 'asks'],
    ['default', 'issue_refund', 'asks'],
    ['default', 'x_unknown', 'asks'],
    ['acceptEdits', 'x_write', 'runs'],
    ['acceptEdits', 'issue_refund', 'asks'],
    ['plan', 'read_order', 'runs'],
    ['plan', 'draft_refund_recommendation', 'runs'],
    ['plan', 'write_note', DENIED],
    ['plan', 'shell', DENIED],
    ['plan', 'issue_refund', DENIED],
    ['dontAsk', 'write_note', 'runs'],
    ['dontAsk', 'x_write', DENIED],
    ['dontAsk', 'issue_refund', DENIED],
  ] as const)('%s: %s %s', (mode, name, expected) => {
    expect(fate(proposing(name, { orderId: '1' }, under(mode)))).toBe(expected);
  });

  test('bypassPermissions does nothing without its unlock', () => {
    expect(fate(proposing('x_write', {}, under('bypassPermissions')))).toBe('asks');
  });

  test.each([
    ['x_write', 'runs'],
    ['issue_refund', 'asks'],
    ['send_email', 'asks'],
    ['x_unknown', 'asks'],
  ])(
    'bypassPermissions, unlocked, never covers what is never repeated: %s %s',
    (name, expected) => {
      expect(fate(proposing(name, {}, under('bypassPermissions', UNLOCKED)))).toBe(expected);
    },
  );

  test.each(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'] as const)(
    'no mode lifts a denial: %s',
    (mode) => {
      const policy: readonly PolicyRule[] = [{ tool: 'x_write', decision: 'deny' }];
      const shell = proposing('x_write', {}, { ...under(mode, UNLOCKED), policy });
      expect(fate(shell)).toBe(DENIED);
      const settings = { permissionMode: mode, ...UNLOCKED, disallowedTools: ['x_write'] };
      expect(fate(proposing('x_write', {}, { settings }))).toBe('tool_not_allowed');
    },
  );

  test('what policy asks about is asked under acceptEdits, denied under dontAsk, run under bypass', () => {
    const policy = [ASK_WRITES];
    expect(fate(proposing('write_note', {}, { policy, ...under('acceptEdits') }))).toBe('asks');
    expect(fate(proposing('write_note', {}, { policy, ...under('dontAsk') }))).toBe(DENIED);
    const bypass = { policy, ...under('bypassPermissions', UNLOCKED) };
    const shell = proposing('write_note', {}, bypass);
    expect(fate(shell)).toBe('runs');
    expect(ofType(shell, 'approval_resolved')).toMatchObject([
      { outcome: 'approved', by: ['mode:bypassPermissions'] },
    ]);
  });

  test('plan overrules what policy allows', () => {
    const policy: readonly PolicyRule[] = [{ tool: '*', decision: 'allow' }];
    expect(fate(proposing('write_note', {}, { policy, ...under('plan') }))).toBe(DENIED);
  });
});

describe('lists of tools', () => {
  test('S33: disallowed beats allowed, and the model does not see the tool', () => {
    const settings = { allowedTools: ['write_note'], disallowedTools: ['write_note'] };
    const shell = proposing('write_note', {}, { settings });
    expect(codesOf(shell)).toEqual({ a: 'tool_not_allowed' });
    expect(requestsOf(shell)[0]!.offered).not.toContain('write_note');
    expect(requestsOf(shell)[0]!.offered).toContain('read_order');
  });

  test('allowed tools run without asking, on record, and hide nothing', () => {
    const shell = proposing('issue_refund', REFUND, { settings: { allowedTools: ['issue_*'] } });
    expect(fate(shell)).toBe('runs');
    expect(requestsOf(shell)[0]!.offered).toBeUndefined();
    expect(ofType(shell, 'approval_resolved')).toMatchObject([{ by: ['allowedTools'] }]);
    expect(started(shell, 'execute_tool')[0]!.input.grant).toMatchObject({
      basis: 'policy',
      reference: 'allowedTools',
    });
  });

  test('a policy that asks comes before the list of allowed tools', () => {
    const settings = { allowedTools: ['write_note'] };
    expect(fate(proposing('write_note', {}, { settings, policy: [ASK_WRITES] }))).toBe('asks');
  });

  test('under onDeny refuse, a disallowed tool ends the run', () => {
    const settings = { disallowedTools: ['write_note'], onDeny: 'refuse' } as const;
    const shell = proposing('write_note', {}, { settings });
    expect(finish(shell)).toMatchObject({ stopReason: 'refused', detail: 'denied_action' });
  });
});

describe('policy as approver', () => {
  test('allow gives the approval in its own name, and nobody is asked', () => {
    const policy: readonly PolicyRule[] = [{ tool: 'issue_refund', decision: 'allow' }];
    const shell = proposing('issue_refund', REFUND, { policy });
    expect(fate(shell)).toBe('runs');
    expect(ofType(shell, 'approval_requested')).toEqual([]);
    expect(ofType(shell, 'approval_resolved')).toMatchObject([
      { askId: 'run_1:0', callId: 'a', outcome: 'approved', by: ['policy:7'], waitedMs: 0 },
    ]);
  });

  test('for a tool that needs none there is no approval to record', () => {
    const policy: readonly PolicyRule[] = [{ tool: 'write_note', decision: 'allow' }];
    expect(ofType(proposing('write_note', {}, { policy }), 'approval_resolved')).toEqual([]);
  });
});

describe('the sandbox', () => {
  const IN_SANDBOX: readonly PolicyRule[] = [{ tool: '*', decision: 'sandbox' }];

  function grantOf(shell: Shell) {
    return started(shell, 'execute_tool')[0]?.input.grant;
  }

  test('S31: a policy sends a tool there that can run there', () => {
    const shell = proposing('shell', { command: 'ls' }, { policy: IN_SANDBOX });
    expect(grantOf(shell)).toMatchObject({ sandbox: true, basis: 'policy' });
    expect(ofType(shell, 'permission')).toMatchObject([
      { decision: 'sandbox', rule: 'policy:7:0' },
    ]);
  });

  test('a tool without one is denied: it would run outside', () => {
    const shell = proposing('write_note', {}, { policy: IN_SANDBOX });
    expect(fate(shell)).toBe(DENIED);
    expect(ofType(shell, 'permission')).toMatchObject([{ decision: 'deny', rule: 'policy:7:0' }]);
  });

  test('a tool that must run there does so, allowed or approved', () => {
    const required = { effect: 'execute', idempotency: 'none', sandbox: 'required' } as const;
    const allowed = tool('x_run', { ...required, approval: 'by_policy' });
    expect(grantOf(proposing('x_run', {}, { tools: [allowed] }))).toMatchObject({ sandbox: true });
    const asked = tool('x_run', { ...required, approval: { roles: [], quorum: 1 } });
    const shell = proposing('x_run', {}, { tools: [asked] });
    answer(shell);
    expect(grantOf(shell)).toMatchObject({ sandbox: true, basis: 'ask' });
  });

  test('is not entered while planning', () => {
    expect(fate(proposing('shell', {}, { policy: IN_SANDBOX, ...under('plan') }))).toBe(DENIED);
  });

  test('nothing else runs in it', () => {
    expect(grantOf(proposing('shell'))).not.toHaveProperty('sandbox');
  });
});

describe('a hook that wants a person', () => {
  const GUARDED = {
    hookNames: { PreToolUse: ['guard'] },
    hooks: { guard: [{ decision: 'ask', message: 'unusual' }] },
  } as const;

  test('is heard before a call enters its sandbox, and the call runs in it then', () => {
    const policy: readonly PolicyRule[] = [{ tool: 'shell', decision: 'sandbox' }];
    const shell = proposing('shell', { command: 'ls' }, { policy, ...GUARDED });
    expect(fate(shell)).toBe('asks');
    answer(shell);
    expect(started(shell, 'execute_tool')[0]!.input.grant).toMatchObject({
      sandbox: true,
      basis: 'ask',
    });
  });

  test('is heard in every mode, and denied one where nobody may be asked', () => {
    const bypass = under('bypassPermissions', UNLOCKED);
    expect(fate(proposing('write_note', {}, { ...bypass, ...GUARDED }))).toBe('asks');
    expect(fate(proposing('write_note', {}, { ...under('dontAsk'), ...GUARDED }))).toBe(DENIED);
  });

  test('is heard before the model asks a person, too', () => {
    const shell = proposing('ask_customer', { question: 'Which?' }, GUARDED);
    expect(fate(shell)).toBe('asks');
    answer(shell);
    expect(askOf(shell)).toMatchObject({ askId: 'run_1:0:input', kind: 'input' });
    send(shell, { type: 'input_provided', askId: 'run_1:0:input', value: 'blue', by: 'x' });
    expect(finish(shell).counters).toMatchObject({ inputRequests: 1, toolCalls: 0 });
  });
});

describe('setPermissionMode', () => {
  function set(shell: Shell, mode: PermissionMode): void {
    send(shell, { type: 'set_permission_mode', mode });
    settle(shell);
  }

  test('S160: counts from the next permission decision on, and is on record', () => {
    const model = [calls(call('a', 'write_note')), calls(call('b', 'write_note')), says('done')];
    const shell = createShell({ model });
    send(shell, { type: 'set_permission_mode', mode: 'plan' });
    settle(shell);
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: DENIED, b: DENIED });
    expect(ofType(shell, 'warning')).toMatchObject([{ code: 'permission_mode' }]);
  });

  test('a question that the new mode makes needless is withdrawn, and the call runs', () => {
    const shell = proposing('x_write');
    set(shell, 'acceptEdits');
    finish(shell);
    expect(ofType(shell, 'approval_withdrawn')).toMatchObject([
      { askId: 'run_1:0', reason: 'the permission mode is now acceptEdits' },
    ]);
    expect(executedOf(shell)).toHaveLength(1);
    expect(ofType(shell, 'permission').map((event) => event.decision)).toEqual(['ask', 'allow']);
  });

  test('a question about what may not run any more is withdrawn, and the call denied', () => {
    const shell = proposing('issue_refund', REFUND);
    set(shell, 'plan');
    expect(finish(shell).counters.deniedCalls).toBe(1);
    expect(codesOf(shell)).toEqual({ a: DENIED });
    expect(ofType(shell, 'approval_withdrawn')).toHaveLength(1);
  });

  test('a question that the new mode still asks stays as it is', () => {
    const shell = proposing('issue_refund', REFUND);
    const before = askOf(shell);
    set(shell, 'acceptEdits');
    expect(askOf(shell)).toEqual(before);
    answer(shell);
    finish(shell);
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('a no that came first stands under a mode that would allow the call', () => {
    const shell = proposing('x_write');
    const { askId, argsHash } = askOf(shell);
    const decision = { v: 1, askId, argsHash, by: 'pat', roles: [], decidedAt: shell.now } as const;
    send(
      shell,
      { type: 'decision', decision: { ...decision, decision: 'reject' } },
      { type: 'set_permission_mode', mode: 'acceptEdits' },
    );
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'approval_rejected' });
  });

  test('a yes does not outlive a mode in which nothing may change', () => {
    const shell = proposing('issue_refund', REFUND);
    const { askId, argsHash } = askOf(shell);
    const decision = { v: 1, askId, argsHash, by: 'pat', roles: [], decidedAt: shell.now } as const;
    send(
      shell,
      { type: 'decision', decision: { ...decision, decision: 'approve' } },
      { type: 'set_permission_mode', mode: 'plan' },
    );
    finish(shell);
    expect(executedOf(shell)).toEqual([]);
  });

  test('bypassPermissions is refused unless it was unlocked at the start', () => {
    const locked = proposing('x_write');
    set(locked, 'bypassPermissions');
    expect(warningsOf(locked)).toEqual(['permission_mode_refused']);
    expect(fate(locked)).toBe('asks');
    const unlocked = proposing('x_write', {}, { settings: UNLOCKED });
    set(unlocked, 'bypassPermissions');
    expect(executedOf(unlocked)).toHaveLength(1);
  });

  test('of several open questions each is looked at again by itself', () => {
    const both = calls(call('a', 'x_write'), call('b', 'issue_refund', REFUND));
    const shell = settle(createShell({ model: [both, says('x')], tools: TOOLS }));
    set(shell, 'acceptEdits');
    expect(askOf(shell)).toMatchObject({ callId: 'b' });
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('does not take back a question that a hook wants asked', () => {
    const shell = proposing(
      'read_order',
      { orderId: '1' },
      {
        hookNames: { PreToolUse: ['guard'] },
        hooks: { guard: [{ decision: 'ask' }] },
      },
    );
    expect(fate(shell)).toBe('asks');
    send(shell, { type: 'set_permission_mode', mode: 'acceptEdits' });
    expect(fate(settle(shell))).toBe('asks');
  });
});

describe('modes that are named in one moment', () => {
  const named = (rules: number) => {
    const shell = proposing('x_write', {}, { rules });
    send(
      shell,
      { type: 'set_permission_mode', mode: 'bypassPermissions' },
      { type: 'set_permission_mode', mode: 'plan' },
    );
    const about = ofType(shell, 'warning').filter(({ code }) => code.startsWith('permission_mode'));
    return about.map(({ code, stamp }) => [code, stamp.rule]);
  };

  test('are each decided on, by a rule that their events name', () => {
    expect(named(9)).toEqual([
      ['permission_mode_refused', 'permission mode'],
      ['permission_mode', 'permission mode'],
    ]);
  });

  test('were decided on as they came under rules before 9', () => {
    expect(named(8)).toEqual([
      ['permission_mode_refused', undefined],
      ['permission_mode', undefined],
    ]);
  });

  test('are refused beyond a hundred', () => {
    const shell = proposing('x_write');
    const modes = Array.from({ length: 101 }, (_, index) => ({
      type: 'set_permission_mode' as const,
      mode: index % 2 === 0 ? ('plan' as const) : ('default' as const),
    }));
    send(shell, ...modes);
    const refused = ofType(shell, 'warning').filter(
      ({ code }) => code === 'permission_mode_refused',
    );
    expect(refused).toMatchObject([{ message: 'too many modes are named at once' }]);
    expect(shell.run.permissionMode).toBe('default');
  });
});
