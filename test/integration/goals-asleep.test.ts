/**
 * Goals asleep cost a worker nothing: more of them sleep than it keeps in its memory, and each that is woken is replayed
 * and goes on. `npm run bench -- asleep` measures those that wake at a time of their own.
 */
import type { GoalDefinition } from '../../core/state/goal/definition.js';
import { replayRuns } from '../../testing/index.js';
import { AGENT } from './support/agents.js';
import { ANY_RUN, failedTasks, ofType, startWorld, until, type World } from './support/world.js';

const LIMIT_MS = 600_000;
/** The fewest that the SDK keeps. */
const CACHED = 10;
const GOALS = 24;
/** Longer than any test. */
const SLEEP_MINUTES = 1_440;

const DEFINITION: GoalDefinition = {
  objective: 'Nothing is left.',
  agent: AGENT,
  done: { all: [{ state: 'left', equals: 0 }] },
  budget: { maxCostMicroUsd: 20_000_000 },
  cycle: { maxCostMicroUsd: 2_000_000, maxTurns: 6 },
};

let world: World;
beforeAll(async () => {
  world = await startWorld({ workerSettings: { maxCachedWorkflows: CACHED } });
}, LIMIT_MS);
afterAll(() => world.stop(), LIMIT_MS);

test(
  'a worker serves more sleeping goals than it keeps, and each goes on when it is woken',
  async () => {
    world.script(ANY_RUN, ({ runId, assistantMessages }) => {
      if (assistantMessages > 0) return { text: 'Written down.' };
      const isFirst = runId.endsWith(':c1');
      const publish = { tool: 'goal_publish', input: { path: 'left', value: isFirst ? 1 : 0 } };
      const because = 'The customer answers tomorrow.';
      const pause = { tool: 'goal_ask_pause', input: { minutes: SLEEP_MINUTES, because } };
      return { calls: isFirst ? [publish, pause] : [publish] };
    });
    const goalIds = Array.from({ length: GOALS }, (_, index) => `asleep-${index}`);
    const goals = await Promise.all(
      goalIds.map((goalId) =>
        world.client.startGoal({ definition: DEFINITION, goalId, wait: false }),
      ),
    );
    await until(
      'all goals to sleep at once',
      async () => {
        const asleep = await Promise.all(goalIds.map(isAsleep));
        return asleep.every(Boolean) ? true : undefined;
      },
      LIMIT_MS,
    );
    await Promise.all(goals.map((goal) => goal.wake()));
    const results = await Promise.all(goals.map((goal) => goal.result({ timeoutMs: LIMIT_MS })));
    for (const result of results) {
      expect(result).toMatchObject({ completed: true, goal: { cycles: 2 } });
    }
    for (const goalId of goalIds) {
      const events = await world.events(goalId);
      expect(ofType(events, 'goal_woken')).toHaveLength(1);
      expect(failedTasks(await world.history(goalId))).toEqual([]);
    }
    expect([...(await replayRuns(world.place, goalIds))]).toEqual([]);
  },
  LIMIT_MS,
);

async function isAsleep(goalId: string): Promise<boolean> {
  const types = (await world.events(goalId)).map(({ type }) => type);
  return types.includes('goal_sleeping');
}
