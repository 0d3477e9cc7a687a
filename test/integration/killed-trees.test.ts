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
  TENANT,
  type Killed,
  type Played,
  type Stage,
} from './support/killed-stage.js';
import { HANDOFF } from './support/killed-handoff.js';
import { ASKS, idsOf, LARGE, SMALL, treeTale, type TreePlayed } from './support/killed-tree.js';
import { until } from './support/world.js';

const MINUTE = 60_000;
/** Trees that have lost their line stay in the slots of their worker: it does not take too many. */
const TREES_PER_WORKER = 20;
const LARGE_PER_WORKER = 4;
const DRAWN_EDGES = WHOLE ? Infinity : 6;
const DRAWN = WHOLE ? Infinity : 2;
const DRAWN_OF_LARGE = WHOLE ? 40 : 1;
const DRAWN_OF_SERVER = WHOLE ? 8 : 1;
/** How long an orphan may live by what the guide says. */
const ORPHAN_MS = 60_000;
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
  'a worker killed while a task goes to another run changes nothing in the end',
  async () => {
    stage = await startStage(HANDOFF);
    const whole = await playedWhole(2, ['the-run:h1:0']);
    const all = pointsOf(whole.messages);
    const handing = all.filter((point) => isOfHandoff(point));
    const chosen = [...drawn(handing, DRAWN_EDGES, SEED), ...drawn(all, DRAWN, SEED)];
    saySeed(`workers of handoffs killed at ${chosen.length} of ${all.length} points`);
    await expectSame(whole, await killedAt(chosen, TREES_PER_WORKER));
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

test(
  'of a tree of 20 sub-agents whose root is terminated and whose worker is killed none is left after 60 s',
  async () => {
    stage = await startStage(treeTale(LARGE, true, ASKS));
    const { world, tale } = stage;
    const { config, module: configModule } = tale.served!;
    const taskQueue = 'orphaned';
    const runId = stage.nextRunId();
    const doomed = await world.spawn({ configModule, taskQueue });
    await tale.start(world, { runId, taskQueue });
    const query = { under: runId, pendingOnly: true, limit: 50 };
    await until('the questions of all clerks', async () =>
      (await world.store.listAsks(TENANT, query)).length === 16 ? true : undefined,
    );
    await world.raw.workflow.getHandle(runId).terminate('a test');
    await doomed.kill();
    const since = performance.now();
    await world.serve({
      config: config({ serviceUrl: world.service.url }),
      taskQueue,
      ...(!WHOLE && { sweepEveryMs: 1_000 }),
    });
    const below = idsOf(runId, LARGE).slice(1);
    for (const id of below) {
      await until(`the end of ${id}`, async () => {
        const { status } = await world.raw.workflow.getHandle(id).describe();
        return status.name === 'RUNNING' ? undefined : true;
      });
    }
    const tookMs = performance.now() - since;
    expect(tookMs).toBeLessThan(ORPHAN_MS);
    saySeed(`20 orphans ended in ${Math.round(tookMs / 1_000)} s`);
    for (const id of below) {
      const row = await world.store.getRun(TENANT, id);
      const costs = [id, ...below.filter((other) => other.startsWith(`${id}:`))].map(
        async (one) => (await world.store.attemptedCost(TENANT, one)).costMicroUsd,
      );
      const spent = (await Promise.all(costs)).reduce((sum, cost) => sum + cost, 0);
      expect(row?.result).toMatchObject({ status: 'cancelled', costMicroUsd: spent });
      expect(world.service.visits(id, 'effect')).toEqual([]);
    }
    const tree = await world.store.listTree(TENANT, runId);
    expect(tree.filter(({ state }) => state === 'open')).toEqual([]);
    expect(await world.store.listAsks(TENANT, query)).toEqual([]);
    expect([...(await replayRuns(world.place, below))]).toEqual([]);
  },
  LIMIT,
);

function isOfHandoff(point: Point): boolean {
  return point.kind === 'message' && /prepare_handoff|agentRun/.test(point.message.about);
}

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
