/** Limits that count what a run keeps: as many as they say, and not one more. */
import { CORRECTIONS_MAX, objectionToCorrection } from '../../../core/ask/correction.js';
import type { Ask } from '../../../core/state/ask.js';
import type { Run } from '../../../core/state/run.js';
import { warn } from '../../../core/step/outbox.js';
import { call, calls, decisionOn, says } from '../script.js';
import { askOf, createShell, settle } from '../shell.js';

test('a question is corrected so often, and then no more', () => {
  const shell = settle(
    createShell({
      model: [calls(call('a', 'issue_refund', { order: 'O-104', amount: 50 })), says('done')],
    }),
  );
  const modify = decisionOn(askOf(shell), { decision: 'modify', args: {} });
  const after = (corrections: number) => {
    const [ask] = shell.run.asks;
    return objectionToCorrection(shell.run, { ...ask, corrections } as Ask, modify);
  };
  expect(after(CORRECTIONS_MAX - 1)).toBeUndefined();
  expect(after(CORRECTIONS_MAX)).toContain('too often');
});

test('before a run is open it keeps fifty warnings', () => {
  const { run } = createShell({ model: [says('done')] });
  const { frozen: _, ...unopened } = run;
  const warned = Array.from({ length: 60 }).reduce<Run>(
    (next, _one, n) => warn(next, 'late_input', `warning ${n}`),
    { ...unopened, heldWarnings: [] } as Run,
  );
  expect(warned.heldWarnings).toHaveLength(50);
  expect(warned.heldWarnings?.at(-1)?.message).toBe('warning 49');
});
