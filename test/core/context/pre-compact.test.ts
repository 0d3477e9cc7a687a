import { compactionStarted, preCompact } from '../../../core/hooks/pre-compact.js';
import { receive } from '../../../core/loop/engine.js';
import type { OpenRun } from '../../../core/state/run.js';
import { says, type Script } from '../script.js';
import { createShell, until } from '../shell.js';

function opened(hookNames: Script['hookNames']): OpenRun {
  const shell = createShell({ model: [says('done')], ...(hookNames && { hookNames }) });
  until(shell, 'session_init');
  return shell.run as OpenRun;
}

test('without hooks a compaction may start at once', () => {
  expect(preCompact(opened(undefined), 'auto')).toBeUndefined();
});

test('a compaction waits until its hooks have answered, the next one asks them anew', () => {
  const step = preCompact(opened({ PreCompact: ['save'] }), 'reactive');
  if (step === undefined || step === 'hold') throw new Error('nothing was started');
  const [effect] = step.effects;
  expect(effect).toMatchObject({
    kind: 'run_hooks',
    input: { point: 'PreCompact', hooks: ['save'], payload: { trigger: 'reactive' } },
  });
  expect(preCompact(step.run, 'reactive')).toBe('hold');
  const outcomes = [{ hook: 'save', opinion: {}, error: 'boom', durationMs: 1 }];
  const id = effect !== undefined && 'id' in effect ? effect.id : '';
  const output = { outcomes, eventsUpTo: 0 };
  const answered = receive(step.run, { type: 'hooks_ran', id, output, at: step.run.now });
  expect(preCompact(answered as OpenRun, 'reactive')).toBeUndefined();
  expect(preCompact(compactionStarted(answered as OpenRun), 'auto')).toMatchObject({
    effects: [{ kind: 'run_hooks' }],
  });
});
