import { call, calls, says, tool, TOOLBOX } from '../script.js';
import { codesOf, createShell, executedOf, finish, ofType } from '../shell.js';

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
