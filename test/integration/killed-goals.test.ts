/**
 * Whatever was the last thing to get through before a worker or the server is killed, the goal comes to the same result,
 * by the same cycles, reviews and events, at the same cost: its own messages and those of its cycles are the points.
 *
 * HOLDFAST_WHOLE=1: at all boundaries and messages, not at some that are drawn; HOLDFAST_SEED: of the draw.
 */
import { replayRuns } from '../../testing/replay.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { boundariesOf, INSIDE_A_GOAL, pointsOf } from './support/kill-points.js';
import { GOAL_TALE } from './support/killed-goal.js';
import { SAID } from './support/killed-goal-story.js';
import { named, problemsOf } from './support/killed-outcome.js';
import {
  killed,
  killedServer,
  played,
  startStage,
  type Killed,
  type Played,
  type Stage,
} from './support/killed-stage.js';

const MINUTE = 60_000;
/** Goals that have lost their line stay in the slots of their worker: it does not take too many. */
const GOALS_PER_WORKER = 24;
const DRAWN = WHOLE ? Infinity : 3;
const DRAWN_BOUNDARIES = WHOLE ? Infinity : 6;
const DRAWN_OF_SERVER = WHOLE ? Infinity : 1;
const LIMIT = WHOLE ? 90 * MINUTE : 10 * MINUTE;

let stage: Stage;
afterEach(() => stage.stop(), MINUTE);

test(
  'a worker killed at any point of a goal changes nothing in the end',
  async () => {
    stage = await startStage(GOAL_TALE);
    const whole = await playedWhole();
    const all = pointsOf(whole.messages);
    const boundaries = boundariesOf(whole.messages);
    const chosen = [
      ...INSIDE_A_GOAL,
      ...drawn(boundaries, DRAWN_BOUNDARIES, SEED),
      ...drawn(all, DRAWN, SEED),
    ];
    const points = INSIDE_A_GOAL.length + boundaries.length + all.length;
    saySeed(`workers of goals killed at ${chosen.length} of ${points} points`);

    const runs: Killed[] = [];
    for (let first = 0; first < chosen.length; first += GOALS_PER_WORKER) {
      runs.push(...(await killed(stage, chosen.slice(first, first + GOALS_PER_WORKER))));
    }
    await expectSame(whole, runs);
  },
  LIMIT,
);

test(
  'a server killed at the boundaries of a goal changes nothing in the end',
  async () => {
    stage = await startStage(GOAL_TALE, { ownServer: true });
    const whole = await playedWhole();
    const all = boundariesOf(whole.messages);
    const chosen = drawn(all, DRAWN_OF_SERVER, SEED);
    saySeed(`servers of goals killed at ${chosen.length} of ${all.length} boundaries`);
    await expectSame(whole, await killedServer(stage, chosen));
  },
  LIMIT,
);

async function playedWhole(): Promise<Awaited<ReturnType<typeof played>>> {
  const whole = await played(stage);
  expect(whole.observation.violations).toEqual([]);
  expect(whole.observation.result).toMatchObject({
    completed: true,
    goal: { cycles: 3, reviews: 3 },
  });
  expect(whole.effects).toEqual([1, 2, 3].map((n) => `the-run:c${n}:${n === 1 ? 1 : 0}`));
  const steered = (whole.observation.goal?.briefs ?? []).map((brief) => brief.includes(SAID));
  expect(steered).toEqual([false, true, false]);
  expect(whole.observation.result?.costMicroUsd).toBe(whole.attemptedMicroUsd);
  const slept = whole.observation.events.filter(({ type }) => type === 'goal_sleeping');
  expect(slept).toHaveLength(2);
  return whole;
}

async function expectSame(whole: Played, runs: readonly Killed[]): Promise<void> {
  const wrong = runs.flatMap((run) =>
    problemsOf(whole, run).map((problem) => `${named(run.point)}: ${problem}`),
  );
  expect(wrong).toEqual([]);
  const workflows = runs.flatMap((run) => run.workflows);
  expect([...(await replayRuns(stage.world.place, workflows))]).toEqual([]);
}
