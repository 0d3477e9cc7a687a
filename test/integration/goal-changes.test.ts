/**
 * What goals decide since rules 12, on a real server: a reset that words outlive, dates ahead, plans that no payload holds,
 * handovers in the middle of a cycle, approved briefs that a worker of another release registers, answers while a plan is stored. `npm run seal -- record --from` has kept their histories.
 */
import { randomUUID } from 'node:crypto';
import type { HoldfastError } from '../../core/state/errors.js';
import type { GoalDefinition } from '../../core/state/goal/definition.js';
import { replayRuns } from '../../testing/index.js';
import { AGENT, config } from './support/agents.js';
import { failedTasks, ofType, pay, say, startWorld, until, type World } from './support/world.js';

const LIMIT_MS = 90_000;
const HOUR_MS = 3_600_000;

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

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, LIMIT_MS);
afterAll(() => world.stop(), LIMIT_MS);

async function begin(goalId: string, over: Partial<GoalDefinition> = {}) {
  world.script(`${goalId}:c1`, [publish(2), say('Two left.')]);
  world.script(`${goalId}:c2`, [publish(0), say('None left.')]);
  const definition = { ...DEFINITION, ...over };
  return world.client.startGoal({ definition, goalId, wait: false });
}

async function statusOf(goalId: string, wanted: string): Promise<void> {
  const { client } = world;
  await until(`${goalId} to be ${wanted}`, async () =>
    (await client.goal(goalId).state()).status === wanted ? true : undefined,
  );
}

async function expectStrict(goalId: string): Promise<void> {
  expect([...(await replayRuns(world.place, [goalId])).entries()]).toEqual([]);
  expect(failedTasks(await world.history(goalId))).toEqual([]);
}

async function resetBehind(goalId: string, tasks: number): Promise<void> {
  const { events } = await world.history(goalId);
  const execution = events?.[0]?.workflowExecutionStartedEventAttributes?.originalExecutionRunId;
  const done = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  await world.raw.workflowService.resetWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId: goalId, runId: execution ?? '' },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: done[tasks - 1]!.eventId!,
  });
}

test(
  'words that a goal heard behind a cycle are in the next brief when that cycle is read again after a reset',
  async () => {
    const goalId = 'heard-before';
    const goal = await begin(goalId, { pace: { everyMs: HOUR_MS } });
    await statusOf(goalId, 'sleeping');
    await goal.say({ type: 'steer', text: 'Oldest first.' }, { by: 'ann' });
    await resetBehind(goalId, 3);
    await until('the cycle to be read', async () =>
      (await goal.state()).cycles === 1 ? true : undefined,
    );
    await statusOf(goalId, 'sleeping');
    await goal.say({ type: 'wake' }, { by: 'ann' });
    await until('the end', async () =>
      ofType(await world.events(goalId), 'goal_result').length > 0 ? true : undefined,
    );
    const briefs = [1, 2].map((n) => JSON.stringify(world.requests(`${goalId}:c${n}`)[0]));
    expect(briefs.map((brief) => brief.includes('Oldest first.'))).toEqual([false, true]);
    await expectStrict(goalId);
  },
  LIMIT_MS,
);

test(
  'a message that is dated ahead and a plan that no payload holds are refused, and the goal goes on',
  async () => {
    const goalId = 'refused-words';
    const goal = await begin(goalId, { pace: { everyMs: HOUR_MS } });
    await statusOf(goalId, 'sleeping');
    const at = Date.now() + HOUR_MS;
    const message = { v: 1, id: 'ahead', type: 'pause', by: 'eve', roles: [], at };
    await world.raw.workflow.getHandle(goalId).signal('goalMessage', message);
    const steps = Array.from({ length: 100 }, (_, n) => ({
      id: `s${n}`,
      title: 't'.repeat(200),
      note: 'n'.repeat(280),
      status: 'open' as const,
    }));
    await expect(goal.say({ type: 'setPlan', steps }, { by: 'ann' })).rejects.toMatchObject({
      code: 'MessageRefused',
      message: expect.stringContaining('say it in parts') as string,
    });
    await goal.say({ type: 'wake' }, { by: 'ann' });
    expect(await goal.result({ timeoutMs: LIMIT_MS })).toMatchObject({ completed: true });
    const refused = ofType(await world.events(goalId), 'warning').filter(
      ({ code }) => code === 'goal_message_refused',
    );
    expect(refused.map(({ message: words }) => words)).toEqual([
      expect.stringContaining('dated more than a minute ahead'),
      expect.stringContaining('more than the goal can store at once'),
    ]);
    await expectStrict(goalId);
  },
  LIMIT_MS,
);

test(
  'a goal is not handed over in the middle of a cycle',
  async () => {
    const goalId = 'handed-over';
    const goal = await begin(goalId);
    world.script(`${goalId}:c1`, [pay('pay.asked', 100), say('Never said.')]);
    await begin('other-goal', { pace: 'when_woken' });
    await until('the question of the cycle', async () =>
      ofType(await world.events(`${goalId}:c1`), 'approval_requested').length > 0
        ? true
        : undefined,
    );
    const early = goal.say({ type: 'handoffGoal', goalId: 'other-goal' }, { by: 'ann' });
    await expect(early).rejects.toMatchObject({
      code: 'MessageRefused',
      message: expect.stringContaining('pause the goal') as string,
    });
    await goal.say({ type: 'cancel' }, { by: 'ann' });
    expect(await goal.result({ timeoutMs: LIMIT_MS })).toMatchObject({ stopReason: 'aborted' });
    await expectStrict(goalId);
  },
  LIMIT_MS,
);

test(
  'a cycle begins with the brief that a person approved, whatever release of a worker registers the cycle',
  async () => {
    const place = await startWorld({ worker: false });
    try {
      const older = config({ serviceUrl: place.service.url });
      const desk = older.agents.get(AGENT)!;
      const dear = {
        name: 'dear',
        provider: 'anthropic',
        model: 'dear',
        contextWindow: 200_000,
        maxOutputTokens: 1_000,
        prices: { input: 2e9, output: 0, cacheRead: 0, cacheWrite: 0 },
        pricesVersion: '2',
        temperatureAllowed: true,
      };
      const newer = {
        ...older,
        routes: [dear],
        agents: new Map(older.agents).set(AGENT, { ...desk, model: 'dear' }),
      };
      const steps = Array.from({ length: 60 }, (_, n) => ({
        id: `s${n}`,
        title: `Match the orders of shelf ${n}, each with its receipt and its payment, and say so.`,
        status: 'open' as const,
      }));
      const goalId = 'approved-brief';
      const goal = await place.client.startGoal({
        definition: {
          ...DEFINITION,
          cycle: { maxCostMicroUsd: 5_000_000, maxTurns: 2 },
          budget: { maxCostMicroUsd: 20_000_000, maxCycles: 1 },
          approval: [{ before: 'every_cycle', roles: ['lead'] }],
        },
        goalId,
        wait: false,
      });
      const first = await place.serve({ config: older });
      const asked = async (times: number) =>
        until(`question ${times}`, async () => {
          const asks = ofType(await place.events(goalId), 'approval_requested');
          return asks.length >= times ? asks : undefined;
        });
      await asked(1);
      await goal.say({ type: 'setPlan', steps }, { by: 'ann' });
      await asked(2);
      await place.retire(first);
      await place.serve({ config: newer });
      const lead = { by: 'carla', roles: ['lead'] };
      // The first query after a worker was replaced may find nobody within its limit.
      const [ask] = await until('an answer of the newer worker', () =>
        goal.pendingApprovals().catch((error: HoldfastError) => {
          if (error.code !== 'ServerUnavailable') throw error;
          return undefined;
        }),
      );
      await goal.approve(ask!.askId, lead);
      await goal.result({ timeoutMs: LIMIT_MS });
      const events = await place.events(goalId);
      const asks = ofType(events, 'approval_requested');
      const briefs = asks.map(({ args }) => (args as { readonly brief: string }).brief);
      expect(new Set(briefs).size).toBe(2);
      expect(ofType(events, 'cycle_started').map(({ brief }) => brief)).toEqual([briefs[1]]);
      expect([...(await replayRuns(place.place, [goalId])).entries()]).toEqual([]);
    } finally {
      await place.stop();
    }
  },
  LIMIT_MS,
);
