import { CHANGES } from '../../../core/step/changes.js';
import { call, calls, says, STRICT_001, tool, TOOLBOX, type Script } from '../script.js';
import {
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  requestsOf,
  type Shell,
} from '../shell.js';

function contentOf(shell: Shell, callId: string): unknown {
  return ofType(shell, 'tool_finished').find((event) => event.callId === callId)?.content;
}

describe('a proposed call is looked up and checked first', () => {
  test('S22: an unknown tool gets an error that names it, and the run goes on', () => {
    const shell = createShell({ model: [calls(call('a', 'nope', {})), says('ok')] });
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: 'unknown_tool' });
    expect(contentOf(shell, 'a')).toEqual({ text: 'There is no tool "nope".' });
    expect(finish(shell).counters).toMatchObject({ toolCalls: 0, invalidCalls: 1, step: 1 });
    expect(ofType(shell, 'permission')).toEqual([]);
  });

  test('S23: invalid arguments go back to the model, which mends them', () => {
    const model = [
      calls(call('a', 'read_order', {})),
      calls(call('b', 'read_order', { orderId: '1' })),
      says('ok'),
    ];
    const shell = createShell({ model });
    expect(finish(shell).counters).toMatchObject({ invalidCalls: 1, toolCalls: 1 });
    expect(codesOf(shell)).toEqual({ a: 'invalid_arguments', b: 'ok' });
    expect(contentOf(shell, 'a')).toEqual({ text: 'orderId: must not be blank' });
    expect(executedOf(shell)).toEqual(['b read_order case:1 1']);
  });

  test('S24: invalid arguments refuse a strict run', () => {
    const model = [calls(call('a', 'lookup_order', { orderId: ' ' }))];
    const shell = createShell({ settings: STRICT_001, model });
    expect(finish(shell)).toMatchObject({ stopReason: 'refused', detail: 'invalid_tool_input' });
    expect(executedOf(shell)).toEqual([]);
  });

  test('S28: a forbidden action refuses the run even when it only observes', () => {
    const task = { forbiddenActions: ['issue_refund'] };
    const shell = createShell({ task, model: [calls(call('a', 'issue_refund'))] });
    expect(finish(shell)).toMatchObject({ stopReason: 'refused', detail: 'denied_action' });
    expect(codesOf(shell)).toEqual({ a: 'tool_not_allowed' });
  });

  test('S33: forbidden beats allowed, and only visible tools are offered', () => {
    const task = { allowedActions: ['read_order', 'shell'], forbiddenActions: ['shell'] };
    const shell = createShell({ task, model: [says('ok')] });
    finish(shell);
    expect(requestsOf(shell)[0]?.offered).toEqual(['read_order']);
  });

  test('all tools are offered when nothing narrows them', () => {
    const shell = createShell({ model: [says('ok')] });
    finish(shell);
    expect(requestsOf(shell)[0]?.offered).toBeUndefined();
  });

  test('names from the model never reach a prototype', () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const model = [calls(...names.map((name, index) => call(`c${index}`, name))), says('ok')];
    const shell = createShell({ model, budget: { maxInvalidProposals: 'unlimited' } });
    expect(finish(shell).counters.invalidCalls).toBe(3);
  });
});

describe('permission comes before execution', () => {
  test('S29: a denied call has its reason as result, the next one runs', () => {
    const shell = createShell({
      policy: [{ tool: 'write_note', decision: 'deny', reason: 'read only' }],
      model: [calls(call('a', 'write_note', { text: 'x' }), call('b', 'read_order')), says('ok')],
    });
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: 'permission_denied', b: 'ok' });
    expect(contentOf(shell, 'a')).toEqual({ text: 'read only' });
    expect(ofType(shell, 'tool_results_message')[0]?.callIds).toEqual(['a', 'b']);
    expect(ofType(shell, 'permission')).toMatchObject([
      { callId: 'a', decision: 'deny', rule: 'policy:7:0', reason: 'read only' },
      { callId: 'b', decision: 'allow', rule: 'tool' },
    ]);
  });

  test('a terminal denial refuses the run and leaves the rest not executed', () => {
    const shell = createShell({
      policy: [{ tool: 'write_*', decision: 'deny', terminal: true }],
      model: [calls(call('a', 'write_note', {}), call('b', 'read_order'))],
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'refused', detail: 'denied_action' });
    expect(codesOf(shell)).toEqual({ a: 'permission_denied', b: 'not_executed' });
    expect(finish(shell).counters).toMatchObject({ deniedCalls: 1, notStartedCalls: 1 });
  });

  test('a policy that allows gives the approval that the tool wants', () => {
    const shell = createShell({
      policy: [{ tool: 'issue_refund', decision: 'allow', when: { path: 'amount', lte: 10 } }],
      model: [calls(call('a', 'issue_refund', { amount: 10 })), says('ok')],
    });
    expect(finish(shell).stopReason).toBe('completed');
    const grants = shell.effects.flatMap((one) =>
      one.kind === 'execute_tool' ? [one.input.grant] : [],
    );
    expect(grants).toMatchObject([{ basis: 'policy', approvedBy: ['policy:7'] }]);
  });

  test('a tool of unknown effect asks, whatever its record says', () => {
    const tools = [tool('x_mcp', { effect: 'unknown', approval: 'by_policy' })];
    const shell = createShell({ tools, model: [calls(call('a', 'x_mcp'))] });
    expect(finish(shell).detail).toBe('approval_timeout');
  });
});

describe('calls run in the order of the reply', () => {
  test('S111: the second starts after the first has finished', () => {
    const shell = createShell({
      model: [calls(call('a', 'write_note', {}), call('b', 'shell', {})), says('ok')],
    });
    finish(shell);
    const order = shell.events.flatMap((event) =>
      event.type === 'tool_started' || event.type === 'tool_finished'
        ? [`${event.type.slice(5)} ${event.callId}`]
        : [],
    );
    expect(order).toEqual(['started a', 'finished a', 'started b', 'finished b']);
    expect(executedOf(shell)).toEqual(['a write_note case:0:0 1', 'b shell case:0:1 1']);
  });

  test('S114: a failure in the middle stops nothing else', () => {
    const shell = createShell({
      model: [
        calls(call('a', 'read_order'), call('b', 'shell', {}), call('c', 'read_order')),
        says('ok'),
      ],
      outcomes: { shell: [{ error: 'exit 1' }] },
    });
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: 'ok', b: 'execution_error', c: 'ok' });
  });

  test('in a strict run the calls after a failure are not executed', () => {
    const shell = createShell({
      settings: STRICT_001,
      model: [calls(call('a', 'shell', {}), call('b', 'read_order'))],
      outcomes: { shell: [{ error: 'exit 1' }] },
    });
    expect(finish(shell).stopReason).toBe('tool_failure');
    expect(codesOf(shell)).toEqual({ a: 'execution_error', b: 'not_executed' });
  });

  test('keys count steps, also of turns in which nothing ran, and carry the tenant', () => {
    const model = [calls(call('a', 'nope')), calls(call('b', 'read_order')), says('ok')];
    const shell = createShell({ model, tenant: 'acme', tools: TOOLBOX });
    finish(shell);
    expect(executedOf(shell)).toEqual(['b read_order acme/case:1 1']);
  });
});

describe('fields that the schema of a tool does not declare', () => {
  const leaving = (leftOut: readonly string[]) =>
    calls({ ...call('a', 'read_order'), check: { ok: true, leftOut } });
  const warned = (script: Partial<Script>) => {
    const shell = createShell({ model: [leaving(['debug', 'x.y']), says('done')], ...script });
    finish(shell);
    return ofType(shell, 'warning').map(({ code, message }) => [code, message]);
  };
  const WARNING = [
    'arguments_left_out',
    'read_order a declares no debug, x.y: it does not get that',
  ];

  test('are a warning', () => {
    expect(warned({})).toEqual([WARNING]);
  });

  test('are one also when a hook or another worker brought them', () => {
    const check = () => ({ ok: true, leftOut: ['debug', 'x.y'] }) as const;
    const hooked = {
      model: [calls(call('a', 'read_order')), says('done')],
      hookNames: { PreToolUse: ['guard'] },
      hooks: { guard: [{ updatedInput: { orderId: '2' } }] },
      check,
    };
    expect(warned(hooked)).toEqual([WARNING]);
    const unchecked = { ...call('a', 'read_order'), check: { ok: true, unchecked: true } } as const;
    expect(warned({ model: [calls(unchecked), says('done')], check })).toEqual([WARNING]);
  });

  test('are nothing under rules before 10', () => {
    expect(warned({ rules: CHANGES.toldLeftOut.since - 1 })).toEqual([]);
  });
});
