/** How often Stop hooks may send answers back is the session's to count (C32, G103). */
import { CHANGES, RULES_VERSION } from '../../../core/step/changes.js';
import { says } from '../script.js';
import { createShell, finish, started } from '../shell.js';

const OBJECTS = { blockingErrors: ['again'] };

function runIn(session: { readonly stopHookReentries?: number }, rules = RULES_VERSION) {
  const carry = {
    v: 1,
    taskId: 'task_0',
    step: 2,
    reactiveAttempts: 0,
    state: {},
    ...session,
  } as const;
  const shell = createShell({
    rules,
    session: { id: 'talk', base: 1, kept: true, carry },
    hookNames: { Stop: ['judge'] },
    hooks: { judge: [OBJECTS, OBJECTS] },
    model: [says('a'), says('b'), says('c')],
  });
  const result = finish(shell);
  return { result, saved: started(shell, 'close_run')[0]?.input.session?.carry };
}

test('the next run of a session has the rounds that are left', () => {
  const { result } = runIn({ stopHookReentries: 2 });
  expect(result).toMatchObject({
    stopReason: 'stop_hook_prevented',
    detail: 'reentry_limit',
    counters: { stopHookReentries: 1, modelCalls: 2 },
  });
});

test('a session keeps the count of all of its runs', () => {
  expect(runIn({}).saved).toMatchObject({ stopHookReentries: 2 });
  expect(runIn({ stopHookReentries: 1 }).saved).toMatchObject({ stopHookReentries: 3 });
});

test('runs of older rules count their own rounds alone', () => {
  const { result, saved } = runIn({ stopHookReentries: 2 }, CHANGES.sessionReentries.since - 1);
  expect(result).toMatchObject({ stopReason: 'completed', counters: { stopHookReentries: 2 } });
  expect(saved).not.toHaveProperty('stopHookReentries');
});
