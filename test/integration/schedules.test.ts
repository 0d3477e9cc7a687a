/** Runs and goals at times, on a real server; no worker runs, so that what is started stays as it is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { connect, type HoldfastClient } from '../../client/index.js';
import { isRunId } from '../../client/runs/run-id.js';
import type { ScheduleOptions } from '../../client/schedules/check-schedule.js';
import { openStore } from '../../store/store.js';
import { startTestServer, type TestServer } from '../../testing/index.js';
import { holdfastAt } from './support/cli-at.js';

const DAY_MS = 86_400_000;
const LIMIT_MS = 60_000;

const definition = {
  objective: 'All invoices of March are matched.',
  agent: 'matcher',
  done: { all: [{ plan: 'complete' as const }] },
  budget: { maxCostMicroUsd: 1_000_000 },
};
const run = { agent: 'clerk', task: 'Close the open tickets.' };
const daily = { everyMs: DAY_MS };

let server: TestServer;
let client: HoldfastClient;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-schedules-'));
  server = await startTestServer({ environment: process.env });
  client = await connect({ address: server.address });
});

afterAll(async () => {
  await client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function started(id: string, count: number): Promise<readonly string[]> {
  const until = Date.now() + LIMIT_MS;
  for (;;) {
    const view = await client.schedule(id).show();
    const ids = view.started.map((one) => one.id);
    if (ids.length >= count || Date.now() > until) return ids;
    await sleep(100);
  }
}

test('a schedule starts runs under ids of their own, each tick once', async () => {
  const nightly = await client.createSchedule({ scheduleId: 'nightly', ticks: daily, run });
  const to = Date.now();
  const span = { from: to - 2 * DAY_MS, to };
  const taken = await nightly.backfill(span, 'allow_all');
  const ids = await started('nightly', 2);
  expect(ids).toHaveLength(2);
  expect(taken.toSorted()).toEqual(ids.toSorted());
  for (const id of ids) {
    expect(id).toMatch(/^nightly-\d{4}-\d\d-\d\dT00:00:00Z$/);
    expect(isRunId(id)).toBe(true);
    expect(await client.handle(id).execution()).toMatchObject({ runId: id, tenant: 'default' });
  }
  const executions = await executionsOf(ids);
  // Also one that has ended is not begun again.
  await terminate(ids[0] ?? '');
  expect(await nightly.backfill(span, 'allow_all')).toEqual([]);
  await nightly.trigger();
  const [triggered] = (await started('nightly', 3)).filter((id) => !ids.includes(id));
  expect(triggered).toMatch(/^nightly-/);
  expect(await executionsOf(ids)).toEqual(executions);
});

async function terminate(runId: string): Promise<void> {
  const connection = await Connection.connect({ address: server.address });
  await new Client({ connection }).workflow.getHandle(runId).terminate();
  await connection.close();
}

async function executionsOf(ids: readonly string[]): Promise<readonly string[]> {
  return Promise.all(ids.map(async (id) => (await client.handle(id).execution()).executionId));
}

test('a schedule starts goals, which are found as goals', async () => {
  await client.createSchedule({
    scheduleId: 'dunning',
    ticks: { cron: '0 9 * * 1-5', timezone: 'Europe/Zurich' },
    goal: { definition },
    overlap: 'buffer_one',
    paused: true,
    note: 'not yet',
  });
  const dunning = client.schedule('dunning');
  expect(await dunning.show()).toMatchObject({
    starts: 'goal',
    agent: 'matcher',
    ticks: { cron: '0 9 * * 1-5', timezone: 'Europe/Zurich' },
    overlap: 'buffer_one',
    catchupMs: 3_600_000,
    paused: true,
    note: 'not yet',
    next: [],
    started: [],
  });
  await dunning.resume();
  const { next, paused } = await dunning.show();
  expect(paused).toBe(false);
  const hour = new Intl.DateTimeFormat('en', {
    timeZone: 'Europe/Zurich',
    hour: 'numeric',
    hourCycle: 'h23',
  }).format(next[0]);
  expect(hour).toBe('09');
  await dunning.trigger();
  const [goalId = ''] = await started('dunning', 1);
  expect(goalId.length).toBeLessThanOrEqual(96);
  expect(await client.goal(goalId).execution()).toMatchObject({ kind: 'goal', tenant: 'default' });
  const same = await client.startGoal({ definition, goalId, wait: false }).catch(String);
  expect(same).toMatchObject({ goalId });
});

test('a schedule belongs to its tenant', async () => {
  await client.forTenant('one').createSchedule({ scheduleId: 'ours', ticks: daily, run });
  const others = client.forTenant('two');
  const missing = { code: 'ScheduleNotFound', hint: expect.any(String) as string };
  await expect(others.schedule('ours').show()).rejects.toMatchObject(missing);
  await expect(others.schedule('ours').delete()).rejects.toMatchObject(missing);
  await expect(client.schedule('nobody').pause()).rejects.toMatchObject(missing);
  await expect(
    others.createSchedule({ scheduleId: 'ours', ticks: daily, run }),
  ).rejects.toMatchObject({ code: 'ScheduleExists' });
  const until = Date.now() + LIMIT_MS;
  let listed = await client.forTenant('one').listSchedules();
  while (listed.length === 0 && Date.now() < until) {
    await sleep(200);
    listed = await client.forTenant('one').listSchedules();
  }
  expect(listed).toMatchObject([{ scheduleId: 'ours', agent: 'clerk', starts: 'run' }]);
  expect(await others.listSchedules()).toEqual([]);
  await client.forTenant('one').schedule('ours').delete();
  await expect(client.forTenant('one').schedule('ours').show()).rejects.toMatchObject(missing);
});

test.each<[Partial<ScheduleOptions>, string]>([
  [{ scheduleId: 'x'.repeat(76) }, 'The schedule id'],
  [{ scheduleId: 'a b' }, 'The schedule id'],
  [{ ticks: { everyMs: 1_500 } }, 'ticks.everyMs cannot be used: it must be whole seconds'],
  [{ ticks: { cron: '0 9 1 * 1', timezone: 'UTC' } }, 'ticks.cron cannot be used'],
  [{ ticks: { cron: '0 9 * *', timezone: 'UTC' } }, 'pace.cron cannot be used'],
  [{ run: { ...run, task: { goal: 'x', taskId: 't' } } }, 'run.task.taskId cannot be used'],
  [{ goal: { definition } }, 'a schedule starts either a run or a goal'],
  [{ overlap: 'terminate_other' as never }, 'overlap cannot be used: it must be one of skip'],
  [{ catchupMs: 5 }, 'catchupMs cannot be used'],
])('a schedule that cannot work is refused before anything is sent: %#', async (over, said) => {
  const wanted = { scheduleId: 's', ticks: daily, run, ...over };
  await expect(client.createSchedule(wanted)).rejects.toMatchObject({
    code: 'InvalidTask',
    message: expect.stringContaining(said) as string,
  });
});

test('a schedule for an agent that none of the living workers serves is refused', async () => {
  const store = await openStore({ file: join(folder, 'store.db') });
  const queue = { namespace: 'default', taskQueue: 'holdfast' };
  const code = { agents: ['clerk'], tools: [], hooks: [], providers: [] };
  const there = await connect({ address: server.address, store });
  try {
    const wanted = { scheduleId: 'typo', ticks: daily, run: { ...run, agent: 'clark' } };
    // Where nobody serves yet the schedule may come first.
    await (await there.createSchedule(wanted)).delete();
    await store.announceServed({ ...queue, worker: 'w1', code });
    await expect(there.createSchedule(wanted)).rejects.toMatchObject({
      code: 'UnknownAgent',
      hint: expect.stringMatching(/Did you mean clerk\?.*make it again/) as string,
    });
    await store.endServed('w1');
  } finally {
    await there.close();
    await store.close();
  }
});

test('a backfill is bounded, and of the past', async () => {
  const ticks = { cron: '* * * * *', timezone: 'UTC' };
  const often = await client.createSchedule({ scheduleId: 'often', ticks, run, paused: true });
  const to = Date.now();
  await expect(often.backfill({ from: to - DAY_MS, to })).rejects.toThrow('more than 1000 ticks');
  await expect(often.backfill({ from: to, to: to + DAY_MS })).rejects.toThrow('it lies ahead');
  await expect(often.backfill({ from: to, to: to - 1 })).rejects.toThrow('from cannot be used');
});

describe('holdfast schedule', () => {
  const holdfast = (...argv: readonly string[]) =>
    holdfastAt({ folder, address: server.address }, argv);

  test('makes, shows, holds and deletes schedules', async () => {
    const made = await holdfast(
      ...'schedule create weekly --agent clerk Tidy up. --every 7d --paused --json'.split(' '),
      '--note',
      'first look',
    );
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(made.out)).toEqual({ scheduleId: 'weekly' });
    const shown = await holdfast('schedule', 'show', 'weekly');
    expect(shown.out).toContain('weekly runs of clerk: “Tidy up.”');
    expect(shown.out).toContain('every 7 d · overlap skip · 0 started');
    expect(shown.out).toContain('Paused (first look)');
    expect((await holdfast('schedule', 'resume', 'weekly')).out).toBe('Goes on.\n');
    await holdfast('schedule', 'pause', 'weekly');
    expect((await holdfast('schedule', 'show', 'weekly')).out).toMatch(/^Paused$/m);
    await holdfast('schedule', 'resume', 'weekly');
    expect((await holdfast('schedule', 'trigger', 'weekly')).code).toBe(0);
    const [id = ''] = await started('weekly', 1);
    expect((await holdfast('schedule', 'show', 'weekly')).out).toContain(id);
    const past = 'schedule backfill weekly --from 2026-01-01 --to 2026-01-02'.split(' ');
    expect(await holdfast(...past)).toMatchObject({
      code: 0,
      out: 'weekly-2026-01-01T00:00:00Z\n',
      err: expect.stringContaining('1 tick taken up;'),
    });
    expect((await holdfast('schedule', 'delete', 'weekly')).code).toBe(0);
    const gone = await holdfast('schedule', 'show', 'weekly', '--json');
    expect(gone.code).toBe(1);
    expect(JSON.parse(gone.out)).toMatchObject({ error: { code: 'ScheduleNotFound' } });
  });

  test.each([
    [['create', 'x', 'Do it'], 'give one of the two'],
    [['create', 'x', '--agent', 'a', 'Do it'], 'Say when'],
    [['create', 'x', '--agent', 'a', 'Do', '--cron', '0 9 * * *'], 'needs a time zone'],
    [['create', 'x', '--agent', 'a', 'Do', '--every', 'often'], '--every must be a time'],
    [['create', 'x', '--goal', 'g.json', 'Do', '--every', '1d'], 'go with --agent'],
    [['create', 'x', '--agent', 'a', '--every', '1d', '--overlap', 'all'], 'There is no policy'],
    [['backfill', 'x', '--from', 'monday', '--to', '2026-01-02T00:00:00Z'], '--from takes'],
    [['backfill', 'x'], 'required option'],
  ])('says what is wrong with a command line: %j', async (words, said) => {
    const { code, err } = await holdfast('schedule', ...words);
    expect(code).toBe(2);
    expect(err).toContain(said);
  });
});
