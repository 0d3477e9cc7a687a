import { CHANGES } from '../../../core/step/changes.js';
import type { HookPoint } from '../../../core/state/hook.js';
import { call, calls, failure, says, type Script } from '../script.js';
import {
  createShell,
  crossSegment,
  finish,
  ofType,
  requestsOf,
  send,
  started,
  tick,
  until,
  type Shell,
} from '../shell.js';

const PRE = { PreToolUse: ['guard'] };
const READ = calls(call('a', 'read_order'));

function play(script: Script): Shell {
  const shell = createShell(script);
  finish(shell);
  return shell;
}

function askedOf(shell: Shell, point: HookPoint) {
  return started(shell, 'run_hooks')
    .filter(({ input }) => input.point === point)
    .map(({ input }) => input.payload);
}

describe('the hooks of a session', () => {
  const SESSION = { SessionStart: ['hello'], SessionEnd: ['bye'] };

  test('S145: SessionStart comes before session_init, SessionEnd after run_result', () => {
    const shell = createShell({ hookNames: SESSION, model: [says('done')] });
    tick(shell);
    expect(askedOf(shell, 'SessionStart')).toMatchObject([{ source: 'startup' }]);
    expect(shell.events).toEqual([]);
    const result = finish(shell);
    expect(shell.events[0]?.type).toBe('session_init');
    expect(shell.events.at(-1)?.type).toBe('run_result');
    expect(askedOf(shell, 'SessionEnd')).toEqual([{ reason: 'completed' }]);
    const kinds = shell.effects.map((effect) => effect.kind);
    expect(kinds.lastIndexOf('run_hooks')).toBeLessThan(kinds.lastIndexOf('close_run'));
    expect(ofType(shell, 'hook')).toEqual([]);
    expect(result.hooks).toMatchObject([
      { point: 'SessionStart', hook: 'hello', outcome: 'ok' },
      { point: 'SessionEnd', hook: 'bye', outcome: 'ok' },
    ]);
  });

  test('what SessionStart adds is said below the goal', () => {
    const shell = play({
      hookNames: SESSION,
      hooks: { hello: [{ additionalContext: 'The shop is closed.' }] },
      task: { constraints: ['Be polite.'] },
      model: [says('done')],
    });
    expect(shell.transcript.messages.map((message) => message.text)).toEqual([
      'Handle the case.',
      'Constraints:\n- Be polite.',
      'The shop is closed.',
      'done',
    ]);
  });

  test.each([
    ['throws', { error: 'boom' }],
    ['cannot be run', failure('Internal')],
  ])('a hook that %s is noted and stops nothing', (_, entry) => {
    const shell = play({
      hookNames: SESSION,
      hooks: { hello: [entry], bye: [entry] },
      model: [says('done')],
    });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      hooks: [{ outcome: 'error' }, { outcome: 'error' }],
    });
  });

  test('what arrives before session_init is told after it', () => {
    const shell = createShell({
      hookNames: SESSION,
      hooks: { hello: [{ delayMs: 50 }] },
      model: [says('done'), says('again')],
    });
    tick(shell);
    send(
      shell,
      { type: 'input_rejected', message: 'signal', reason: 'odd' },
      { type: 'user_message', text: 'and this' },
    );
    finish(shell);
    expect(shell.events.slice(0, 3).map((event) => event.type)).toEqual([
      'session_init',
      'warning',
      'user_message',
    ]);
  });

  const MOMENTS: readonly [string, Partial<Script>, (shell: Shell) => void][] = [
    ['the SessionStart hook', { hooks: { hello: [{ delayMs: 5_000 }] } }, (shell) => tick(shell)],
    ['a model call', {}, (shell) => until(shell, 'session_init')],
    ['a tool', {}, (shell) => until(shell, 'tool_started', { callId: 'a' })],
    [
      'a hook',
      { hookNames: { ...SESSION, ...PRE }, hooks: { guard: [{ delayMs: 5_000 }] } },
      (shell) => until(shell, 'model_response'),
    ],
    ['an approval', {}, (shell) => until(shell, 'approval_requested')],
  ];

  test.each(MOMENTS)('S141: cancelled during %s, SessionEnd runs exactly once', (_, more, go) => {
    const model = [
      { ...calls(call('a', 'read_order')), partial: says('').reply },
      calls(call('b', 'issue_refund', {})),
    ];
    const shell = createShell({
      hookNames: SESSION,
      model,
      outcomes: { read_order: [{ ok: 1, delayMs: 20 }] },
      ...more,
    });
    go(shell);
    send(shell, { type: 'cancel_requested' });
    expect(finish(shell)).toMatchObject({ stopReason: 'aborted' });
    expect(askedOf(shell, 'SessionEnd')).toEqual([{ reason: 'aborted' }]);
    expect(shell.run.inflight).toEqual({});
    expect(shell.run.errands).toEqual({});
  });

  test('an interrupt during the SessionEnd hook does not end it, nor start it again', () => {
    const shell = createShell({
      hookNames: SESSION,
      hooks: { bye: [{ delayMs: 50 }] },
      model: [says('done')],
    });
    until(shell, 'run_result');
    send(shell, { type: 'cancel_requested' });
    expect(finish(shell).hooks).toMatchObject([{}, { point: 'SessionEnd', outcome: 'ok' }]);
    expect(askedOf(shell, 'SessionEnd')).toHaveLength(1);
  });

  test('continue-as-new repeats neither of them', () => {
    const shell = createShell({
      hookNames: SESSION,
      model: [READ, says('done')],
    });
    until(shell, 'tool_finished');
    crossSegment(shell);
    finish(shell);
    expect(started(shell, 'run_hooks').map(({ input }) => input.point)).toEqual([
      'SessionStart',
      'SessionEnd',
    ]);
  });

  describe('a hook that denies', () => {
    const DENY = { hello: [{ decision: 'deny', message: 'Not in this house.' }] } as const;

    test('refuses the task before any model call, and no other hook is asked', () => {
      const shell = play({
        hookNames: { SessionStart: ['hello', 'other'], SessionEnd: ['bye'] },
        hooks: DENY,
        model: [says('Late.')],
      });
      expect(finish(shell)).toMatchObject({
        stopReason: 'refused',
        detail: 'safety_policy',
        nextSafeAction: 'Not in this house.',
        hooks: [
          { point: 'SessionStart', hook: 'hello', outcome: 'deny', message: 'Not in this house.' },
          { point: 'SessionEnd', hook: 'bye' },
        ],
      });
      expect(requestsOf(shell)).toEqual([]);
      expect(shell.events[0]?.type).toBe('session_init');
    });

    test('without a word of its own is named', () => {
      const hooks = { hello: [{ decision: 'deny' }] } as const;
      const shell = play({ hookNames: SESSION, hooks, model: [says('Late.')] });
      expect(finish(shell).nextSafeAction).toBe('The hook hello refuses this task.');
    });

    test('decides nothing under rules before 10', () => {
      const { since } = CHANGES.refusedTasks;
      const model = [says('done')];
      const shell = play({ hookNames: SESSION, hooks: DENY, model, rules: since - 1 });
      expect(finish(shell)).toMatchObject({
        stopReason: 'completed',
        hooks: [{ outcome: 'ok' }, {}],
      });
    });
  });

  test('a task that the house refuses has both, and the starter’s own reason comes first', () => {
    const script = { hookNames: SESSION, denied: 'not in this house', model: [says('Late.')] };
    const ended = (more: Partial<Script> = {}) => finish(play({ ...script, ...more }));
    expect(ended()).toMatchObject({
      stopReason: 'refused',
      detail: 'safety_policy',
      nextSafeAction: 'not in this house',
      counters: { modelCalls: 0 },
      hooks: [{}, {}],
    });
    expect(ended({ task: { denied: 'not here' } }).nextSafeAction).toBe('not here');
  });

  test('a task that the safety policy denies has both', () => {
    const shell = play({ hookNames: SESSION, task: { denied: 'not here' }, model: [] });
    expect(finish(shell)).toMatchObject({ stopReason: 'refused', hooks: [{}, {}] });
    expect(requestsOf(shell)).toEqual([]);
  });
});
