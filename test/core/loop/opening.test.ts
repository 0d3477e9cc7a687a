/** How long nobody may hear of a worker that opens a run. */
import { codeId, rulesOfCode } from '../../../core/step/code-id.js';
import { advance } from '../../../core/loop/engine.js';
import { open, upgradeRun } from '../../../core/loop/open.js';
import type { Run } from '../../../core/state/run.js';

const START = { v: 1, agent: 'desk', task: { goal: 'Serve.' } } as const;

function opening(code: string | undefined) {
  const identity = { runId: 'r', at: 0, rules: rulesOfCode(code) };
  const [effect] = advance(open(START, identity)).effects;
  return effect?.kind === 'open_run' ? effect.limits : undefined;
}

test('a worker that dies while it opens a run is noticed by its heartbeats', () => {
  expect(opening(codeId('0.2.0', 'c0ffee', 8))).toEqual({
    attemptMs: 60_000,
    heartbeatMs: 10_000,
    maximumAttempts: 0,
  });
});

test.each([
  ['of rules 7', codeId('0.1.0', 'c0ffee', 7)],
  ['that says nothing of its rules', 'holdfast@0.1.0+3437a3d7e7d2'],
  ['without a name', undefined],
])('code %s has opened its runs without heartbeats, and replays so', (_, code) => {
  expect(opening(code)).toEqual({ attemptMs: 60_000, maximumAttempts: 0 });
});

test.each(['holdfast@0.1.0+c0ffee.rules', 'holdfast@0.1.0+c0ffee.rules-8', 'other+rules8', ''])(
  'the name %j says no rules number',
  (code) => {
    expect(rulesOfCode(code)).toBeUndefined();
  },
);

test('a segment of a newer shape waits for a worker that reads it', () => {
  const run = { ...open(START, { runId: 'r', at: 0 }), shape: 2 } as unknown as Run;
  expect(() => upgradeRun(run)).toThrow(/NotServed: .*shape 2.*reads shape 1; deploy a newer/);
});
