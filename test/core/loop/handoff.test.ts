/** What becomes of a handoff in the core when the other agent cannot be opened; the rest are cases (G66). */
import { opened } from '../../../core/loop/arrival.js';
import { handOver, handoffFailed, takenOver } from '../../../core/loop/handoff.js';
import type { Failure } from '../../../core/state/failure.js';
import type { OpenRunOutput } from '../../../core/state/effect.js';
import type { Handoff } from '../../../core/state/handoff.js';
import type { OpenRun } from '../../../core/state/run.js';
import { createShell, settle } from '../shell.js';
import { says } from '../script.js';

const HANDOFF: Handoff = {
  n: 1,
  callId: 'h',
  from: 'desk',
  to: 'billing',
  filter: 'all',
  args: { to: 'billing', summary: 'Yours.' },
  due: true,
};

function due(): OpenRun {
  const shell = createShell({ model: [says('done')] });
  settle(shell);
  const { stopping: _, final: __, ...run } = shell.run;
  return { ...run, handoff: HANDOFF } as OpenRun;
}

test.each([
  ['UnknownAgent', 'tool_unavailable'],
  ['InvalidTask', 'failed'],
])('an opening that fails with %s ends the run %s', (code, reason) => {
  const failure: Failure = { code, message: 'No worker has it.', attempts: 1 } as Failure;
  const failed = handoffFailed(due(), failure);
  const step = failed && handOver(failed as OpenRun);
  expect(step).toMatchObject({
    run: {
      stopping: { reason, detail: 'handoff_failed', nextSafeAction: 'No worker has it.' },
    },
  });
});

test('a handoff that is not due is neither opened nor failed', () => {
  const { due: _, ...granted } = HANDOFF;
  const run = { ...due(), handoff: granted };
  const failure = { code: 'UnknownAgent', message: '', attempts: 1 } as unknown as Failure;
  expect(handoffFailed(run, failure)).toBeUndefined();
  const output = { rules: 15, frozen: run.frozen, handedOver: { message: { text: '' }, bytes: 1 } };
  expect(takenOver(run, { ...output, eventsUpTo: 0 })).toBeUndefined();
});

test('the next agent gets the budget that is there, and nothing that people allowed the agent before', () => {
  const run = {
    ...due(),
    grants: [{ id: 'g' }],
    schemas: { x: 'y' },
    changedTools: ['files__read@1'],
    permissionMode: 'plan',
  } as unknown as OpenRun;
  const wide = {
    ...run.frozen,
    agent: { name: 'billing', version: '1' },
    budget: { ...run.frozen.budget, maxTurns: 999 },
    settings: {
      ...run.frozen.settings,
      requireProof: false,
      onBudget: 'ask' as const,
      budgetRoles: ['anybody'],
    },
  };
  const before = {
    ...run,
    frozen: { ...run.frozen, settings: { ...run.frozen.settings, requireProof: true } },
  };
  const output: OpenRunOutput = {
    rules: 15,
    frozen: wide,
    handedOver: { message: { text: 'Yours.' }, bytes: 10 },
    eventsUpTo: 0,
  };
  const next = takenOver(before, output);
  expect(next?.frozen?.agent.name).toBe('billing');
  expect(next?.frozen?.budget.maxTurns).toBe(run.frozen.budget.maxTurns);
  expect(next?.frozen?.settings.requireProof).toBe(true);
  expect(next).not.toHaveProperty('grants');
  expect(next).not.toHaveProperty('schemas');
  expect(next).not.toHaveProperty('changedTools');
  expect(next?.frozen?.settings).toMatchObject({ onBudget: 'stop', budgetRoles: [] });
  expect(next?.permissionMode).toBe('plan');
  expect(next?.tally).toEqual(run.tally);
  for (const permissionMode of ['bypassPermissions', 'acceptEdits', 'dontAsk'] as const) {
    expect(takenOver({ ...before, permissionMode }, output)).not.toHaveProperty('permissionMode');
  }
});

test('an opening that a pause has cancelled leaves the handoff for later', () => {
  const failure = { code: 'Aborted', message: '', cancelled: true, attempts: 1 } as const;
  const left = handoffFailed(due(), failure);
  const { due: _, ...granted } = HANDOFF;
  expect(left?.handoff).toEqual(granted);
  expect(handOver({ ...(left as OpenRun), paused: 'before_model' })).toBeUndefined();
  expect(handOver(left as OpenRun)).toMatchObject({ run: { handoff: { due: true } } });
});

test('workers that know no handoffs are asked again, ten times', () => {
  let run: OpenRun = due();
  let openings = 0;
  for (; run.handoff?.failed === undefined && openings < 50; openings += 1) {
    run = opened(run, { rules: 15, frozen: run.frozen, eventsUpTo: 0 }) as OpenRun;
    const step = handOver(run);
    if (run.handoff?.failed === undefined) run = (step as { run: OpenRun }).run;
  }
  expect(openings).toBe(10);
  expect(handOver(run)).toMatchObject({
    run: { stopping: { reason: 'tool_unavailable', detail: 'handoff_failed' } },
  });
});
