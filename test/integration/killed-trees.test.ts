/**
 * Whatever was the last thing to get through before a worker or the server is killed, a tree of depth 2 comes to the same
 * results, events and effects at each of its runs, at what its attempts cost, and no sub-agent is left over. A small tree
 * dies at the edges between a run and its sub-agent; one of 20 sub-agents dies in the middle of them all.
 *
 * HOLDFAST_WHOLE=1: at all edges and messages of the small tree, and at many of the large one; HOLDFAST_SEED: of the draw.
 */
import { replayRuns } from '../../testing/replay.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { edgesOf, pointsOf, type Point } from './support/kill-points.js';
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
import { idsOf, LARGE, SMALL, treeTale, type TreePlayed } from './support/killed-tree.js';

const MINUTE = 60_000;
/** Trees that have lost their line stay in the slots of their worker: it does not take too many. */
const TREES_PER_WORKER = 20;
const LARGE_PER_WORKER = 4;
const DRAWN_EDGES = WHOLE ? Infinity : 6;
const DRAWN = WHOLE ? Infinity : 2;
const DRAWN_OF_LARGE = WHOLE ? 40 : 1;
const DRAWN_OF_SERVER = WHOLE ? 8 : 1;
const LIMIT = WHOLE ? 90 * MINUTE : 10 * MINUTE;

const SOMEWHERE: Point = { kind: 'inside', what: 'in the middle of a reply' };

let stage: Stage;
afterEach(() => stage.stop(), MINUTE);

test(
  'a worker killed at any edge between a run and its sub-agent changes nothing in the end',
  async () => {
    stage = await startStage(treeTale(SMALL, false));
    const whole = await playedWhole(3, ['the-run:a1:a1:0']);
    const all = pointsOf(whole.messages);
    const edges = edgesOf(whole.messages);
    const chosen = [...drawn(edges, DRAWN_EDGES, SEED), ...drawn(all, DRAWN, SEED)];
    saySeed(`workers of trees killed at ${chosen.length} of ${edges.length + all.length} points`);
    await expectSame(whole, await killedAt(chosen, TREES_PER_WORKER));
  },
  LIMIT,
);

test(
  'a server killed at an edge changes nothing in the end',
  async () => {
    stage = await startStage(treeTale(SMALL, false), { ownServer: true });
    const whole = await playedWhole(3, ['the-run:a1:a1:0']);
    const edges = edgesOf(whole.messages);
    const chosen = drawn(edges, DRAWN_OF_SERVER, SEED);
    saySeed(`servers of trees killed at ${chosen.length} of ${edges.length} edges`);
    await expectSame(whole, await killedServer(stage, chosen));
  },
  LIMIT,
);

test(
  'a worker killed in the middle of 20 sub-agents changes nothing in the end',
  async () => {
    stage = await startStage(treeTale(LARGE, true));
    const clerks = idsOf('the-run', LARGE).filter((id) => id.split(':').length === 3);
    const whole = await playedWhole(
      21,
      clerks.map((id) => `${id}:0`),
    );
    const all = pointsOf(whole.messages);
    const chosen = drawn(all, DRAWN_OF_LARGE, SEED);
    saySeed(`workers of large trees killed at ${chosen.length} of ${all.length} points`);
    const runs = await killedAt(chosen, LARGE_PER_WORKER);
    // Where many run at once, how far each has got is another matter each time.
    await expectSame(
      whole,
      runs.map((run) => ({ ...run, point: SOMEWHERE, reached: true })),
    );
  },
  LIMIT,
);

async function playedWhole(runs: number, effects: readonly string[]) {
  const whole = await played(stage);
  const { members, open } = treeOf(whole);
  expect([...members.keys()].toSorted()).toHaveLength(runs);
  expect(whole.effects).toEqual(effects);
  expect(open).toEqual([]);
  for (const { observation, attemptedMicroUsd } of members.values()) {
    expect(observation.violations).toEqual([]);
    expect(observation.result).toMatchObject({ completed: true, costMicroUsd: attemptedMicroUsd });
  }
  return whole;
}

async function killedAt(points: readonly Point[], perWorker: number): Promise<readonly Killed[]> {
  const runs: Killed[] = [];
  for (let first = 0; first < points.length; first += perWorker) {
    runs.push(...(await killed(stage, points.slice(first, first + perWorker))));
  }
  return runs;
}

async function expectSame(whole: Played, runs: readonly Killed[]): Promise<void> {
  expect(runs.flatMap((run) => treeProblems(whole, run))).toEqual([]);
  const workflows = runs.flatMap((run) => run.workflows);
  expect([...(await replayRuns(stage.world.place, workflows))]).toEqual([]);
}

/** Each run of the tree for itself; that one below asked something again is seen in the money of all above. */
function treeProblems(whole: Played, run: Killed): readonly string[] {
  const { point, reached, askedAgain } = run;
  const [wanted, seen] = [treeOf(whole), treeOf(run)];
  const problems = [...wanted.members].flatMap(([id, one]) => {
    const other = seen.members.get(id);
    if (other === undefined) return [`${id} was not started`];
    return problemsOf(one, { ...other, point, reached, askedAgain }).map(
      (problem) => `${id}: ${problem}`,
    );
  });
  return [
    ...problems,
    ...(seen.members.size === wanted.members.size ? [] : [`${seen.members.size} runs`]),
    ...seen.open.map((id) => `${id} is open`),
  ].map((problem) => `${named(point)}: ${problem}`);
}

/** What the tale of a tree observes. */
function treeOf(seen: Played): TreePlayed {
  return seen as TreePlayed;
}
