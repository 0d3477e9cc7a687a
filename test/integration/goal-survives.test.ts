/**
 * Goals on a real server: segments, a terminated child, a lost and a forged word of its end, a reset, a child that Temporal
 * has forgotten; each replays strictly.
 */
import { randomUUID } from 'node:crypto';
import { normalGoal } from '../../authoring/index.js';
import type { GoalDefinition } from '../../core/state/goal/definition.js';
import { expectReplays, replayRuns } from '../../testing/index.js';
import { bundleText } from '../../replay/bundle.js';
import { exportRun, exportTree } from '../../replay/export-run.js';
import { parseBundle } from '../../replay/read-bundle.js';
import { AGENT } from './support/agents.js';
import { startWire } from './support/wire.js';
import { failedTasks, ofType, pay, say, startWorld, until, type World } from './support/world.js';

const LIMIT_MS = 150_000;
const PAGE = { sinceSeq: 0, limit: 100 };

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, LIMIT_MS);
afterAll(() => world.stop(), LIMIT_MS);

const DEFINITION: GoalDefinition = {
  objective: 'Nothing is left.',
  agent: AGENT,
  done: { all: [{ state: 'left', equals: 0 }] },
  budget: { maxCostMicroUsd: 20_000_000 },
  cycle: { maxCostMicroUsd: 2_000_000, maxTurns: 6 },
};

const publish = (value: number) => ({
  calls: [{ tool: 'goal_publish', input: { path: 'left', value } }],
});

async function begin(goalId: string, definition: GoalDefinition = DEFINITION) {
  return world.client.startGoal({ definition, goalId, wait: false });
}

function bundleOf(runId: string) {
  return exportRun({ ...world.place, store: world.store }, { tenant: 'default', runId });
}

const typesOf = async (goalId: string) => (await world.events(goalId)).map(({ type }) => type);

async function expectStrict(...runIds: readonly string[]): Promise<void> {
  const failures = await replayRuns(world.place, runIds);
  expect([...failures.entries()]).toEqual([]);
  for (const runId of runIds) expect(failedTasks(await world.history(runId))).toEqual([]);
}

async function reset(goalId: string, nth: number): Promise<void> {
  const { events } = await world.history(goalId);
  const execution = events?.[0]?.workflowExecutionStartedEventAttributes?.originalExecutionRunId;
  const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  await world.raw.workflowService.resetWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId: goalId, runId: execution ?? '' },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: tasks[nth - 1]!.eventId!,
  });
}

test(
  'a goal that is reset reads the cycles that ran, and pays for nothing twice',
  async () => {
    const goalId = 'reset-goal';
    world.script(`${goalId}:c1`, [pay('pay.keyed', 100), publish(2), say('Two left.')]);
    world.script(`${goalId}:c2`, [publish(0), say('None left.')]);
    const goal = await begin(goalId);
    const first = await goal.result({ timeoutMs: LIMIT_MS });
    expect(first).toMatchObject({ completed: true, goal: { cycles: 2 } });
    const asked = [1, 2].map((n) => world.requests(`${goalId}:c${n}`).length);
    const seen = await typesOf(goalId);

    await reset(goalId, 3);
    const handle = world.raw.workflow.getHandle(goalId);
    const second = (await handle.result()) as typeof first;
    expect(second).toMatchObject({
      completed: true,
      costMicroUsd: first.costMicroUsd,
      goal: { cycles: 2, reviews: 2 },
    });
    expect([1, 2].map((n) => world.requests(`${goalId}:c${n}`).length)).toEqual(asked);
    expect(await typesOf(goalId)).toEqual(seen);
    await expectStrict(goalId, `${goalId}:c1`, `${goalId}:c2`);
  },
  LIMIT_MS,
);

test(
  'a forged end of a child ends nothing, a terminated child is a lost cycle, and the goal goes on in new segments',
  async () => {
    const goalId = 'terminated-child';
    const child = `${goalId}:c1`;
    world.script(child, [pay('pay.asked', 100), say('Never said.')]);
    world.script(`${goalId}:c2`, [publish(0), say('None left.')]);
    const goal = await begin(goalId);
    const asks = () => world.store.readEvents({ tenant: 'default', runId: child }, PAGE);
    await until('the question of the child', async () =>
      (await asks()).events.some(({ type }) => type === 'approval_requested') ? true : undefined,
    );
    const handle = world.raw.workflow.getHandle(goalId);
    await handle.signal('childEnded', child);
    await handle.signal('childEnded', `${goalId}:c7`);
    await handle.signal('nextSegment');
    await until('the next segment', async () => {
      const [first] = (await world.history(goalId)).events ?? [];
      const { continuedExecutionRunId } = first?.workflowExecutionStartedEventAttributes ?? {};
      return continuedExecutionRunId ? true : undefined;
    });
    expect(ofType(await world.events(goalId), 'cycle_ended')).toEqual([]);
    await world.raw.workflow.getHandle(child).terminate('a test');
    await handle.signal('childEnded', child);
    const result = await goal.result({ timeoutMs: LIMIT_MS });
    expect(result).toMatchObject({ completed: true, goal: { cycles: 2 } });
    const [lost, well] = ofType(await world.events(goalId), 'cycle_ended');
    expect(lost).toMatchObject({ stopReason: 'failed', detail: 'lost' });
    expect(result.costMicroUsd).toBe(lost!.costMicroUsd + well!.costMicroUsd);
    await expectStrict(goalId, `${goalId}:c2`);
  },
  LIMIT_MS,
);

/** As Temporal does when the retention of a closed workflow is over; what is open ends with it. */
async function forget(workflowId: string): Promise<void> {
  await world.raw.workflowService.deleteWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId },
  });
  const handle = world.raw.workflow.getHandle(workflowId);
  await until(`${workflowId} to be forgotten`, () =>
    handle.describe().then(
      () => undefined,
      (error: Error) => (error.name === 'WorkflowNotFoundError' ? true : undefined),
    ),
  );
}

test(
  'a child that closed and was forgotten by Temporal before its goal heard of it ends as the store says',
  async () => {
    const goalId = 'forgotten-closed';
    const child = `${goalId}:c1`;
    world.script(child, [pay('pay.keyed', 100), publish(0), say('None left.')]);
    const { address } = world.server;
    // The goal hears nothing from the moment on that its child is started; the child goes on.
    const wire = await startWire({
      address,
      runId: /(forgotten-closed(?::c1)?)/,
      activity: /open_goal|prepare_cycle/,
      decision: /agentRun/,
      fate: ({ runId, about, name }) =>
        runId === goalId && about === 'agentRun' && name.startsWith('Respond')
          ? 'unheard'
          : 'delivered',
    });
    const taskQueue = 'forgotten';
    const deaf = await world.spawn({ address: wire.address, taskQueue });
    await world.raw.workflow.start('goalRun', {
      workflowId: goalId,
      taskQueue,
      args: [{ v: 1, goal: normalGoal(DEFINITION) }],
    });
    const own = await until('the end of the child', async () => {
      const row = await world.store.getRun('default', child);
      const { status } = await world.raw.workflow
        .getHandle(child)
        .describe()
        .catch(() => ({ status: { name: 'NONE' } }));
      return status.name === 'COMPLETED' ? row?.result : undefined;
    });
    await forget(child);
    await deaf.kill();
    await wire.stop();
    expect(ofType(await world.events(goalId), 'cycle_ended')).toEqual([]);
    await world.serve({ taskQueue });
    const result = await world.client.goal(goalId).result({ timeoutMs: LIMIT_MS });
    expect(result).toMatchObject({
      completed: true,
      costMicroUsd: own.costMicroUsd,
      goal: { cycles: 1 },
    });
    expect(own.costMicroUsd).toBeGreaterThan(0);
    const [ended] = ofType(await world.events(goalId), 'cycle_ended');
    expect(ended).toMatchObject({ stopReason: 'completed', costMicroUsd: own.costMicroUsd });
    expect(world.service.visits(child, 'effect')).toHaveLength(1);
    await expectStrict(goalId);
  },
  LIMIT_MS,
);

test(
  'a child that Temporal has forgotten before it ended is a lost cycle, and costs its attempts',
  async () => {
    const goalId = 'forgotten-open';
    const child = `${goalId}:c1`;
    world.script(child, [pay('pay.asked', 100), say('Never said.')]);
    world.script(`${goalId}:c2`, [publish(0), say('None left.')]);
    const goal = await begin(goalId);
    await until('the question of the child', async () =>
      (await world.events(child)).some(({ type }) => type === 'approval_requested')
        ? true
        : undefined,
    );
    await forget(child);
    const { costMicroUsd } = await world.store.attemptedCost('default', child);
    expect(costMicroUsd).toBeGreaterThan(0);
    // What is told in its place: the goal looks by itself after a minute.
    await world.raw.workflow.getHandle(goalId).signal('childEnded', child);
    const result = await goal.result({ timeoutMs: LIMIT_MS });
    expect(result).toMatchObject({ completed: true, goal: { cycles: 2 } });
    const [lost, well] = ofType(await world.events(goalId), 'cycle_ended');
    expect(lost).toMatchObject({ stopReason: 'failed', detail: 'lost', costMicroUsd });
    expect(result.costMicroUsd).toBe(costMicroUsd + well!.costMicroUsd);
    expect(world.service.visits(child, 'effect')).toEqual([]);
    await expectStrict(goalId, `${goalId}:c2`);
  },
  LIMIT_MS,
);

test(
  'a goal and its cycle are exported as bundles that replay without a server',
  async () => {
    const goalId = 'exported-goal';
    world.script(`${goalId}:c1`, [publish(0), say('None left.')]);
    const goal = await begin(goalId);
    await goal.result({ timeoutMs: LIMIT_MS });
    for (const runId of [goalId, `${goalId}:c1`]) {
      const bundle = await bundleOf(runId);
      await expectReplays(bundle);
      expect(bundle.events.length).toBe((await world.events(runId)).length);
    }
    const run = { tenant: 'default', runId: goalId };
    const whole = await exportTree({ ...world.place, store: world.store }, run);
    expect(whole).toMatchObject({ members: [{ parent: goalId, run: { runId: `${goalId}:c1` } }] });
    await expectReplays(parseBundle(bundleText(whole), 'goal.json'));
    const { blobs } = await bundleOf(goalId);
    expect(Object.values(blobs).some((text) => text.includes('Nothing is left.'))).toBe(true);
  },
  LIMIT_MS,
);
