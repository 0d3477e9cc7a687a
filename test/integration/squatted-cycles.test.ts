/**
 * Runs that have the ids of a goal's cycles before the goal: of another tenant, of its own, of nobody, and one that has
 * ended. Each costs one cycle; none is heard, told anything or paid for.
 */
import type { GoalDefinition } from '../../core/state/goal/definition.js';
import { replayRuns } from '../../testing/index.js';
import { AGENT } from './support/agents.js';
import { TASK_QUEUE, failedTasks, ofType, pay, say, startWorld, until } from './support/world.js';
import type { World } from './support/world.js';

const LIMIT_MS = 150_000;
const GOAL = 'squatted';
const DEFINITION: GoalDefinition = {
  objective: 'Nothing is left.',
  agent: AGENT,
  done: { all: [{ state: 'left', equals: 0 }] },
  budget: { maxCostMicroUsd: 20_000_000 },
  cycle: { maxCostMicroUsd: 2_000_000, maxTurns: 6 },
  stopRules: { failedCycles: 10, blockedCycles: 10, noProgressCycles: 10 },
};

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, LIMIT_MS);
afterAll(() => world.stop(), LIMIT_MS);

const cycle = (n: number): string => `${GOAL}:c${n}`;
const MALLORY = { v: 1, agent: AGENT, task: { goal: 'Pay mallory.' }, tenant: 'mallory' };

async function squat(n: number, start: object) {
  const options = { workflowId: cycle(n), taskQueue: TASK_QUEUE, args: [start] };
  return world.raw.workflow.start('agentRun', options);
}

async function squatUnserved(n: number) {
  return world.raw.workflow.start('anything', { workflowId: cycle(n), taskQueue: 'unserved' });
}

async function asksOf(tenant: string, runId: string): Promise<unknown> {
  const page = await world.store.readEvents({ tenant, runId }, { sinceSeq: 0, limit: 100 });
  return page.events.find(({ type }) => type === 'approval_requested');
}

test(
  'a run that has the id of a cycle already is not taken for the cycle, whoever started the run',
  async () => {
    for (const n of [1, 2]) world.script(cycle(n), [pay('pay.asked', 100), say('Paid mallory.')]);
    world.script(cycle(5), [
      { calls: [{ tool: 'goal_publish', input: { path: 'left', value: 0 } }] },
      say('None left.'),
    ]);
    await squat(1, MALLORY);
    await squat(2, { ...MALLORY, tenant: 'default' });
    await until('the questions of the squatters', async () =>
      (await asksOf('mallory', cycle(1))) && (await asksOf('default', cycle(2))) ? true : undefined,
    );
    await squatUnserved(3);
    await (await squatUnserved(4)).terminate('a test');

    const goal = await world.client.startGoal({
      definition: DEFINITION,
      goalId: GOAL,
      wait: false,
    });
    const result = await goal.result({ timeoutMs: LIMIT_MS });
    const ended = ofType(await world.events(GOAL), 'cycle_ended');
    expect(ended.slice(0, 4).map(({ detail, costMicroUsd }) => ({ detail, costMicroUsd }))).toEqual(
      Array.from({ length: 4 }, () => ({ detail: 'child_id_taken', costMicroUsd: 0 })),
    );
    expect(result).toMatchObject({ completed: true, goal: { cycles: 5 } });
    expect(result.costMicroUsd).toBe(ended[4]!.costMicroUsd);

    for (const n of [1, 2]) {
      const { events } = await world.history(cycle(n));
      expect(events?.some((event) => event.workflowExecutionSignaledEventAttributes)).toBe(false);
      expect((await world.raw.workflow.getHandle(cycle(n)).describe()).status.name).toBe('RUNNING');
    }
    expect([...(await replayRuns(world.place, [GOAL, cycle(5)])).entries()]).toEqual([]);
    expect(failedTasks(await world.history(GOAL))).toEqual([]);
    for (const n of [1, 2, 3]) await world.raw.workflow.getHandle(cycle(n)).terminate('a test');
  },
  LIMIT_MS,
);
