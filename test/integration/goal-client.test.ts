/** Goals as clients start and reach them, on a real server; no worker runs, so that nothing of a goal itself happens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { normalGoal } from '../../authoring/index.js';
import { connect, type HoldfastClient } from '../../client/index.js';
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { GoalDefinition } from '../../core/state/goal/definition.js';
import { openStore, type Store } from '../../store/store.js';
import { startTestServer, type TestServer } from '../../testing/index.js';
import { eventsFrom } from '../store/fixtures.js';
import { holdfastAt } from './support/cli-at.js';

const definition: GoalDefinition = {
  objective: 'All invoices of March are matched.',
  agent: 'matcher',
  done: { all: [{ plan: 'complete' }] },
  validation: [{ name: 'open' }],
  budget: { maxCostMicroUsd: 1_000_000 },
};
const other = { ...definition, pace: 'when_woken' as const };

let server: TestServer;
let store: Store;
let folder: string;
let client: HoldfastClient;
let bare: HoldfastClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-goal-client-'));
  store = await openStore({ file: join(folder, 'store.db') });
  server = await startTestServer({ environment: process.env });
  client = await connect({ address: server.address, store });
  bare = await connect({ address: server.address });
});

afterAll(async () => {
  await client.close();
  await bare.close();
  await server.stop();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const taken = { code: 'RunExists', hint: expect.any(String) as string };

test.each([
  ['agent', { agent: 'nobody' }],
  ['handoffTo.0', { handoffTo: ['nobody'] }],
])('a goal whose %s no worker serves is refused by the field', async (path, field) => {
  const queue = { namespace: 'default', taskQueue: 'elsewhere' };
  const code = { agents: ['matcher'], tools: [], hooks: [], providers: [] };
  await store.announceServed({ ...queue, worker: 'w1', code });
  const there = await connect({ address: server.address, store, taskQueue: 'elsewhere' });
  try {
    const start = there.startGoal({ definition: { ...definition, ...field } });
    await expect(start).rejects.toMatchObject({
      code: 'InvalidTask',
      message: expect.stringContaining('"nobody"') as string,
      hint: expect.stringContaining('matcher') as string,
      details: { path },
    });
  } finally {
    await there.close();
  }
});

describe('the id of a goal', () => {
  test('that nothing has is told by whoever asks what the goal remembers', async () => {
    await expect(client.goal('nope').record()).rejects.toMatchObject({
      code: 'RunNotFound',
      message: 'There is no goal nope.',
    });
  });

  test('of a goal that has just begun is known, though the store has nothing of it yet', async () => {
    await client.startGoal({ definition, goalId: 'begun', wait: false });
    await expect(client.goal('begun').record()).rejects.toMatchObject({
      code: 'TranscriptMissing',
    });
  });

  test('gives the goal that exists, for the same definition alone', async () => {
    const goalId = 'march';
    const first = await client.startGoal({ definition, goalId, wait: false });
    expect(first.goalId).toBe(goalId);
    const again = { definition: normalGoal(definition), goalId, wait: false };
    expect((await bare.startGoal(again)).goalId).toBe(goalId);
    for (const from of [client, bare]) {
      await expect(
        from.startGoal({ definition: other, goalId, wait: false }),
      ).rejects.toMatchObject(taken);
    }
  });

  test('is taken across tenants, and nobody is told by whom', async () => {
    const start = { definition, goalId: 'march', wait: false };
    const failure = client.forTenant('other').startGoal(start);
    await expect(failure).rejects.toMatchObject({ ...taken, message: /the id is taken/ });
  });

  test('is that of no run, nor that of a run one of a goal', async () => {
    await client.start({ agent: 'clerk', task: 'Wait.', runId: 'a-run', wait: false });
    await expect(
      client.startGoal({ definition, goalId: 'a-run', wait: false }),
    ).rejects.toMatchObject(taken);
    await expect(
      client.start({ agent: 'clerk', task: 'Wait.', runId: 'march', wait: false }),
    ).rejects.toMatchObject(taken);
  });

  test('still gives the goal when that has ended', async () => {
    const start = { definition, goalId: 'ended', wait: false };
    await client.startGoal(start);
    await terminate('ended');
    expect((await client.startGoal(start)).goalId).toBe('ended');
    await expect(client.startGoal({ ...start, definition: other })).rejects.toMatchObject(taken);
  });

  test('still gives the goal when Temporal has forgotten it and the store has not', async () => {
    await storeStarted('forgotten');
    const start = { definition, goalId: 'forgotten', wait: false };
    expect((await client.startGoal(start)).goalId).toBe('forgotten');
    await expect(client.goal('forgotten').execution()).rejects.toMatchObject({
      code: 'RunNotFound',
    });
    await expect(client.startGoal({ ...start, definition: other })).rejects.toMatchObject(taken);
    const restarted = await client.restartGoal('forgotten', {
      goalId: 'second',
      budget: { maxCostMicroUsd: 3_000_000 },
      wait: false,
    });
    expect(restarted.goalId).toBe('second');
    await expect(
      client.startGoal({ definition, goalId: 'second', wait: false }),
    ).rejects.toMatchObject(taken);
  });

  test('a restart that is repeated sets its plan once', async () => {
    await storeStarted('planned');
    const restart = (title: string) => {
      const plan = [{ id: 's1', title, status: 'open' }] as const;
      return client.restartGoal('planned', { goalId: 'replanned', plan, wait: false });
    };
    await restart('Match the oldest.');
    await restart('Match the oldest.');
    await restart('Match the newest.');
    const ids = await messageIdsOf('replanned');
    expect(ids).toHaveLength(3);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  /** What `open_goal` stores of a goal. */
  async function storeStarted(goalId: string): Promise<void> {
    // With the tools of its checks.
    const checked = normalGoal(definition);
    const frozen = { name: 'open', version: '1', schemaHash: 'h', effect: 'read' };
    const validation = checked.validation.map((check) => ({ ...check, frozen }));
    const stored = { ...checked, validation } as unknown as Json;
    const { $blob } = await store.putBlob('default', canonicalJson(stored));
    const started = {
      type: 'goal_started',
      agent: 'matcher',
      objective: { text: definition.objective },
      definition: $blob,
      maxCostMicroUsd: 1_000_000,
      pace: 'continuous',
      versions: {},
    } as const;
    const run = { tenant: 'default', runId: goalId, execution: 'e' };
    await store.appendEvents(run, eventsFrom(0, [started]));
  }

  /** Of what was said to a goal that no worker serves. */
  async function messageIdsOf(goalId: string): Promise<readonly string[]> {
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: server.address });
    const { events } = await new Client({ connection }).workflow.getHandle(goalId).fetchHistory();
    await connection.close();
    return (events ?? []).flatMap((event) => {
      const [said] = event.workflowExecutionSignaledEventAttributes?.input?.payloads ?? [];
      if (!said?.data) return [];
      return [(JSON.parse(Buffer.from(said.data).toString('utf8')) as { readonly id: string }).id];
    });
  }

  async function terminate(goalId: string): Promise<void> {
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: server.address });
    await new Client({ connection }).workflow.getHandle(goalId).terminate();
    await connection.close();
  }
});

describe('what is said to a goal', () => {
  test('is sent as a signal when no worker answers', async () => {
    await bare.startGoal({ definition, goalId: 'told', wait: false });
    const told = await bare.goal('told').steer('Start with the oldest.', { by: 'mia', id: 'm-1' });
    expect(told).toEqual({ delivered: 'signal', id: 'm-1' });
  });

  test('is refused before it is sent when the goal could not read it', async () => {
    const goal = bare.goal('told');
    const refused = { code: 'InvalidTask', hint: expect.any(String) as string };
    await expect(goal.steer(' ')).rejects.toMatchObject(refused);
    await expect(goal.steer('x'.repeat(4_001))).rejects.toMatchObject(refused);
    await expect(goal.steer('\uD800')).rejects.toMatchObject(refused);
    await expect(goal.setBudget({})).rejects.toMatchObject(refused);
    await expect(goal.setPlan([{ id: 'a' }] as never)).rejects.toMatchObject(refused);
    await expect(goal.setPace({ cron: '61 * * * *', timezone: 'UTC' })).rejects.toMatchObject(
      refused,
    );
    await expect(goal.setPace({ cron: '0 9 * * *', timezone: 'X' })).rejects.toThrow(
      'pace.timezone',
    );
  });

  test('finds no goal that is not there, or that has ended', async () => {
    await expect(bare.goal('nobody').pause()).rejects.toMatchObject({ code: 'RunNotFound' });
    await expect(bare.goal('ended').pause()).rejects.toMatchObject({
      code: 'MessageRefused',
      details: { reason: 'goal_ended' },
    });
  });
});

describe('lists', () => {
  test('have goals apart from runs', async () => {
    const until = Date.now() + 90_000;
    let goals: readonly string[] = [];
    while (!goals.includes('told') && Date.now() < until) {
      goals = (await bare.listGoals({ limit: 20 })).map(({ goalId }) => goalId);
    }
    expect(goals).toContain('told');
    expect(goals).not.toContain('a-run');
    const runs = (await bare.listRuns({ limit: 20 })).map(({ runId }) => runId);
    expect(runs).toContain('a-run');
    expect(runs).not.toContain('told');
  });
});

describe('holdfast goal', () => {
  const holdfast = (...argv: readonly string[]) =>
    holdfastAt({ folder, address: server.address }, argv);

  test('says in the same words to whoever shows and to whoever watches that there is no goal', async () => {
    const shown = await holdfast('goal', 'show', 'nosuch');
    expect(shown.err).toContain('There is no goal nosuch.');
    expect(shown.err).toContain('holdfast goal list');
    expect(await holdfast('goal', 'watch', 'nosuch')).toEqual(shown);
    expect(await holdfast('goal', 'log', 'nosuch')).toEqual(shown);
  });

  test('starts a goal from a file, once', async () => {
    const file = join(folder, 'goal.json');
    const { writeFileSync } = await import('node:fs');
    writeFileSync(file, JSON.stringify(definition));
    const words = ['goal', 'start', 'goal.json', '--id', 'filed', '--no-wait', '--json'];
    const started = await holdfast(...words);
    expect(started).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(started.out)).toEqual({ goalId: 'filed', status: 'started' });
    expect(await holdfast(...words)).toMatchObject({ code: 0 });
    const richer = await holdfast(...words, '--budget', 'maxCostUsd=2');
    expect(richer.code).toBe(1);
    expect(JSON.parse(richer.out)).toMatchObject({ error: { code: 'RunExists' } });
  });

  test('says things to it, by name', async () => {
    const steered = await holdfast(
      'goal',
      'steer',
      'filed',
      'The',
      'oldest.',
      '--as',
      'mia',
      '--json',
    );
    expect(steered.code).toBe(0);
    expect(JSON.parse(steered.out)).toMatchObject({ goalId: 'filed', delivered: 'signal' });
    const paused = await holdfast('goal', 'pause', 'filed', '--id', 'p-1', '--json');
    expect(JSON.parse(paused.out)).toEqual({ goalId: 'filed', id: 'p-1', delivered: 'signal' });
    expect((await holdfast('goal', 'stop', 'nobody')).code).toBe(1);
  });

  test('refuses a start without a worker, and says what to do', async () => {
    const refused = await holdfast('goal', 'start', 'goal.json', '--json');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.out)).toMatchObject({
      error: { code: 'ServerUnavailable', hint: expect.stringContaining('worker') as string },
    });
  });
});
