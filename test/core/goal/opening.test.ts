/** A goal whose opening fails: who wanted it to end is heard only where that is why. */
import { ScriptedGoal } from './shell.js';

const FAILURE = { code: 'StoreUnavailable', message: 'away' } as const;

function failsToOpen(shell: ScriptedGoal): ScriptedGoal {
  const [id = ''] = shell.effects.flatMap((one) => (one.kind === 'open_goal' ? [one.id] : []));
  shell.take({ type: 'effect_failed', id, failure: FAILURE, at: shell.now });
  return shell.run();
}

test('an opening that fails for good is refused with its reason', () => {
  const { goal } = failsToOpen(new ScriptedGoal({ opensNever: true }));
  expect(goal.final).toMatchObject({ kind: 'refused', code: 'StoreUnavailable' });
});

test('it is refused as well while the grace of a cancel lasts', () => {
  const { goal } = failsToOpen(new ScriptedGoal({ opensNever: true }).say({ type: 'cancel' }));
  expect(goal.final).toMatchObject({ kind: 'refused', code: 'StoreUnavailable' });
});
