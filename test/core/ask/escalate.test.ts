import { call, calls, says, tool, TOOLBOX } from '../script.js';
import { CHANGES } from '../../../core/step/changes.js';
import { answer, codesOf, createShell, executedOf, finish, ofType, settle } from '../shell.js';

const ESCALATE = tool('escalate', { kind: 'handoff', effect: 'none' });
const tools = [...TOOLBOX, ESCALATE];

describe('a model that asks for a person', () => {
  test('stops the run with its reason, executes nothing and keeps the history paired', () => {
    const shell = createShell({
      tools,
      model: [
        calls(
          call('a', 'read_order'),
          {
            ...call('b', 'escalate', { reason: 'The order is disputed.' }),
            check: { ok: true },
          },
          call('c', 'read_order'),
        ),
        says('never asked'),
      ],
    });
    expect(finish(shell)).toMatchObject({
      stopReason: 'needs_human',
      detail: 'escalated',
      nextSafeAction: 'The order is disputed.',
      completed: false,
    });
    expect(executedOf(shell)).toHaveLength(1);
    expect(codesOf(shell)).toMatchObject({ c: 'not_executed' });
    expect(ofType(shell, 'validation').map((event) => event.decision)).toEqual([
      'execute',
      'escalate',
    ]);
  });

  describe('asks as any other call does', () => {
    const handing = {
      ...call('b', 'escalate', { reason: 'Disputed.' }),
      check: { ok: true },
    } as const;
    const script = { tools, model: [calls(handing), says('Then I answer.')] };

    test('its permission is told before it is heard', () => {
      const shell = createShell(script);
      expect(finish(shell).stopReason).toBe('needs_human');
      expect(ofType(shell, 'permission')).toMatchObject([
        { callId: 'b', tool: 'escalate', decision: 'allow', rule: 'tool' },
      ]);
    });

    test('a policy may deny it', () => {
      const rules = [{ tool: 'escalate', decision: 'deny', reason: 'Answer yourself.' }] as const;
      const shell = createShell({ ...script, policy: rules });
      expect(finish(shell)).toMatchObject({
        stopReason: 'completed',
        counters: { deniedCalls: 1 },
      });
      expect(codesOf(shell)).toEqual({ b: 'permission_denied' });
    });

    test('a hook may deny it, or have a person asked first', () => {
      const hookNames = { PreToolUse: ['gate'] };
      const denying = { gate: [{ decision: 'deny', message: 'no' }] } as const;
      const denied = createShell({ ...script, hookNames, hooks: denying });
      expect(finish(denied).stopReason).toBe('completed');
      expect(codesOf(denied)).toEqual({ b: 'hook_denied' });
      const asking = { gate: [{ decision: 'ask' }] } as const;
      const asked = settle(createShell({ ...script, hookNames, hooks: asking }));
      expect(asked.run.stopping).toBeUndefined();
      answer(asked);
      expect(finish(asked)).toMatchObject({ stopReason: 'needs_human', detail: 'escalated' });
    });

    test('runs of older rules hand over without a word of hooks and policy', () => {
      const policy = [{ tool: 'escalate', decision: 'deny' }] as const;
      const shell = createShell({ ...script, policy, rules: CHANGES.grantedHandoffs.since - 1 });
      expect(finish(shell).stopReason).toBe('needs_human');
      expect(ofType(shell, 'permission')).toEqual([]);
    });
  });

  test('a call without a reason is a wrong call', () => {
    const wrong = { ok: false, code: 'invalid_arguments', message: 'reason is missing' } as const;
    const shell = createShell({
      tools,
      model: [calls({ ...call('a', 'escalate', {}), check: wrong }), says('Then I answer.')],
    });
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: 'invalid_arguments' });
  });
});
