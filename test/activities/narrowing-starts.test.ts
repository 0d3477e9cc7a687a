/** Of what an agent forbids or limits a start may only add to it (G102). */
import type { BudgetOverrides, SettingsOverrides } from '../../core/state/task.js';
import { attempt, failureFrom, RUN, startBed, type Bed } from './setup.js';

let bed: Bed | undefined;
afterEach(async () => {
  await bed?.end();
  bed = undefined;
});

interface Limits {
  readonly settings?: SettingsOverrides;
  readonly budget?: BudgetOverrides;
}

async function open(agent: Limits, start: Limits) {
  bed = await startBed(agent);
  const task = { goal: 'Do it.' };
  const opening = { v: 1, run: RUN, segment: 0, events: [] } as const;
  const opened = await attempt(bed.activities().open_run, {
    ...opening,
    start: { v: 1, agent: 'helper', task, ...start },
  });
  return opened.frozen!;
}

test.each<[string, readonly string[], readonly string[]]>([
  ['an empty list', [], ['shell', 'pay.*']],
  ['others', ['mail.*', 'shell'], ['shell', 'pay.*', 'mail.*']],
])(
  'a start that disallows %s makes no tool callable that its agent disallows',
  async (_what, wished, all) => {
    const agent = { settings: { disallowedTools: ['shell', 'pay.*'] } };
    const { settings } = await open(agent, { settings: { disallowedTools: wished } });
    expect(settings.disallowedTools).toEqual(all);
  },
);

test('a start may lower the limits of its agent and set those that it leaves open, not raise them', async () => {
  const agent = { maxTurns: 5, maxCostMicroUsd: 500_000, maxToolCalls: 'unlimited' } as const;
  const start = { maxTurns: 50, maxCostMicroUsd: 'unlimited', maxToolCalls: 60 } as const;
  const { budget } = await open({ budget: agent }, { budget: { ...start, maxOutputTokens: 900 } });
  expect(budget).toMatchObject({
    maxTurns: 5,
    maxCostMicroUsd: 500_000,
    maxToolCalls: 60,
    maxOutputTokens: 900,
  });
  await bed?.end();
  const lower = await open({ budget: agent }, { budget: { maxTurns: 2 } });
  expect(lower.budget).toMatchObject({ maxTurns: 2, maxCostMicroUsd: 500_000 });
});

test('a start that disallows more tools than a run carries is refused', async () => {
  const names = (prefix: string) => Array.from({ length: 150 }, (_, index) => `${prefix}${index}`);
  const failed = await failureFrom(
    open(
      { settings: { disallowedTools: names('a') } },
      { settings: { disallowedTools: names('b') } },
    ),
  );
  expect(failed).toMatchObject({ type: 'InvalidTask', nonRetryable: true });
});
