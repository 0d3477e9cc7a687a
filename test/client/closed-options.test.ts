/** What callers say beside the fields that there are is refused before anything is sent: it would count for nothing. */
import { clientOver } from '../../client/connect.js';
import { startGoal, type GoalStartOptions } from '../../client/goals/start-goal.js';
import type { Link } from '../../client/link.js';
import { checkQuery } from '../../client/query/check-query.js';
import { queriesOver } from '../../client/query/typed-output.js';
import type { QueryRequest } from '../../client/query/options.js';
import { startRun, type StartOptions } from '../../client/runs/start-run.js';
import { checkSchedule, type ScheduleOptions } from '../../client/schedules/check-schedule.js';

/** Nothing is asked of it. */
const link = { tenant: 'default' } as Link;
const run = { agent: 'refund', task: 'Refund A-1' };
const goal = { definition: { objective: 'x', agent: 'a', done: {}, budget: {} } };
const ticks = { everyMs: 60_000 };

const start = (more: object) => startRun(link, { ...run, ...more } as StartOptions);
const schedule = async (more: object) =>
  checkSchedule({ scheduleId: 's', ticks, run, ...more } as ScheduleOptions, 'default');

test.each<[string, () => Promise<unknown>, string, RegExp]>([
  ['a start', () => start({ buget: { maxTurns: 0 } }), 'buget', /^Did you mean budget\?/],
  ['a start', () => start({ maxTurns: 0 }), 'maxTurns', /^Write it into budget: \{ maxTurns: … \}/],
  ['a start', () => start({ onBudget: 'ask' }), 'onBudget', /^Write it into settings: /],
  [
    'a goal',
    () => startGoal(link, { ...goal, waits: true } as unknown as GoalStartOptions),
    'waits',
    /wait/,
  ],
  ['a schedule', () => schedule({ overlp: 'skip' }), 'overlp', /^Did you mean overlap\?/],
  ['a run of a schedule', () => schedule({ run: { ...run, buget: {} } }), 'buget', /budget/],
  [
    'a goal of a schedule',
    () => schedule({ run: undefined, goal: { ...goal, goalId: 'g' } }),
    'goalId',
    /The fields are goal, definition/,
  ],
  [
    'a query',
    async () => checkQuery({ prompt: 'x', options: { agent: 'a' }, outputs: {} } as QueryRequest),
    'outputs',
    /^Did you mean output\?/,
  ],
  [
    'a query of a run',
    async () => checkQuery({ runId: 'r', afterSq: 3 } as QueryRequest),
    'afterSq',
    /^Did you mean afterSeq/,
  ],
])('%s is refused with the field that there is not: %#', async (_, attempt, name, next) => {
  const refused = await attempt().catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'InvalidTask',
    message: `${name} cannot be used: there is no such field here.`,
    details: { path: name },
    hint: expect.stringMatching(next) as string,
  });
});

const goalOf = (more: object) => () =>
  startGoal(link, { ...goal, ...more } as unknown as GoalStartOptions);
const query = (more: object) => async () =>
  checkQuery({ prompt: 'x', options: { agent: 'a' }, ...more } as QueryRequest);

test.each<[() => Promise<unknown>, string]>([
  [() => start({ metadata: {} }), 'task: { metadata: … }'],
  [() => start({ taskId: 't' }), 'task: { taskId: … }'],
  [() => start({ maxCostUsd: 1 }), 'budget: { maxCostUsd: … }'],
  [goalOf({ budget: {} }), 'the definition of the goal: { budget: … }'],
  [goalOf({ maxCostUsd: 1 }), 'the definition of the goal: { budget: { maxCostUsd: … } }'],
  [goalOf({ settings: {} }), 'the definition of the goal: { cycle: { … } }'],
  [goalOf({ maxTurns: 3 }), 'the definition of the goal: { cycle: { maxTurns: … } }'],
  [goalOf({ objective: 'x' }), 'the definition of the goal: { objective: … }'],
  [() => schedule({ cron: '* * * * *' }), 'ticks: { cron: … }'],
  [() => schedule({ budget: {} }), 'run: { budget: … }'],
  [() => schedule({ run: undefined, goal, caller: 'c' }), 'goal: { caller: … }'],
  [query({ maxTurns: 3 }), 'options: { maxTurns: … }'],
  [query({ canUseTool: () => null }), 'options: { canUseTool: … }'],
])('a field that stands a level too high is told where it goes: %#', async (attempt, place) => {
  await expect(attempt()).rejects.toMatchObject({ hint: `Write it into ${place}.` });
});

test('a field of definitions is told nothing of them where a run is started', async () => {
  await expect(start({ connection: {} })).rejects.toMatchObject({
    hint: expect.stringMatching(/^The fields are agent, task/) as string,
  });
});

const client = clientOver(link, async () => undefined) as unknown as {
  readonly [call: string]: (given?: unknown) => Promise<unknown>;
};

test.each(['start', 'startGoal', 'fork', 'forkGoal', 'createSchedule'])(
  '%s of nothing says that an object is needed, and its fields',
  async (call) => {
    for (const [value, kind] of [
      [undefined, 'nothing'],
      [null, 'null'],
      ['x', 'a string'],
    ] as const) {
      await expect(client[call]?.(value)).rejects.toMatchObject({
        code: 'InvalidTask',
        message: `An object belongs here, and not ${kind}.`,
        hint: expect.stringMatching(/^Give an object\. The fields are \w+, /) as string,
      });
    }
  },
);

test.each(['r1', { runId: 'r1' }, undefined])(
  'a fork of %j is told what it begins with',
  async (fork) => {
    await expect(client['fork']?.({ fork, store: {} })).rejects.toMatchObject({
      code: 'InvalidTask',
      message: 'fork cannot be used: it must be the state of a recorded run after a step.',
      hint: expect.stringContaining('holdfast fork RUN --at STEP --live') as string,
    });
  },
);

test('a fork without a store is told to give one', async () => {
  const fork = { run: { start: {} } };
  await expect(client['fork']?.({ fork })).rejects.toMatchObject({
    message: 'store cannot be used: it must be what openStore gives.',
  });
});

test('the schema of an answer is a field of a query, and fields that are left out are none', () => {
  const open = () => Promise.reject(new Error('not asked'));
  const request = { prompt: 'x', options: { agent: 'a' }, outputs: undefined };
  expect(() => queriesOver(open)({ ...request, output: { type: 'object' } })).not.toThrow();
});

test.each([
  ['wait', 'yes'],
  ['continue', 1],
  ['openLimitMs', '5s'],
  ['onHeldUp', {}],
])('a start with the %s %j is refused before anything is sent', async (path, value) => {
  await expect(start({ [path]: value })).rejects.toMatchObject({
    code: 'InvalidTask',
    message: expect.stringContaining(`${path} cannot be used: it must be `),
    details: { path },
  });
});

test('a goal with such a wait is refused in the same way', async () => {
  const options = { ...goal, wait: 'yes' } as unknown as GoalStartOptions;
  await expect(startGoal(link, options)).rejects.toMatchObject({
    code: 'InvalidTask',
    details: { path: 'wait' },
  });
});
