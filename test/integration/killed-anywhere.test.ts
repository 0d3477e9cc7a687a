/**
 * Whatever was the last thing to get through before a worker is killed, the run comes to the
 * same result, the same events and the same conversation, and what it does happens once. Every event of a
 * history is written by a message between worker and server, so a worker that dies before and after each of
 * them dies at every event id; a few more die in the middle of an activity, or while a person is waited for.
 *
 * HOLDFAST_WHOLE=1: at all messages, not at some that are drawn; HOLDFAST_SEED: of the draw.
 */
import { replayRuns } from '../../testing/replay.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { INSIDE_A_RUN, pointsOf } from './support/kill-points.js';
import { named, problemsOf } from './support/killed-outcome.js';
import { QUICK_TALE, RUN_TALE } from './support/killed-run.js';
import { killed, played, startStage, type Stage } from './support/killed-stage.js';

const MINUTE = 60_000;
/** Of the store's commits: every other seed has them share their syncs. */
const SYNC = SEED % 2 === 0 ? 'shared' : 'each';
const COUNT = WHOLE ? Infinity : 6;
/** Runs that have lost their line stay in the slots of their worker: it does not take too many. */
const RUNS_PER_WORKER = 20;
/** Every batch has a worker of its own to lose, and takes half a minute on a busy machine. */
const LIMIT = WHOLE ? 20 * MINUTE : 5 * MINUTE;

let stage: Stage;
afterEach(() => stage.stop(), MINUTE);

test.each([
  ['of ordinary reads', RUN_TALE],
  ['of reads that are tried within the tasks that decide', QUICK_TALE],
])(
  'a worker killed at any point of a run %s changes nothing in the end',
  async (_, tale) => {
    stage = await startStage(tale, { storeSync: SYNC });
    const whole = await played(stage);
    expect(whole.effects).toEqual(['the-run:1']);
    const all = pointsOf(whole.messages);
    const chosen = [...INSIDE_A_RUN, ...drawn(all, COUNT, SEED)];
    saySeed(
      `workers killed at ${chosen.length} of ${INSIDE_A_RUN.length + all.length} points; syncs: ${SYNC}`,
    );

    const wrong: string[] = [];
    const runIds: string[] = [];
    for (let first = 0; first < chosen.length; first += RUNS_PER_WORKER) {
      const runs = await killed(stage, chosen.slice(first, first + RUNS_PER_WORKER));
      for (const run of runs) {
        runIds.push(run.runId);
        wrong.push(...problemsOf(whole, run).map((problem) => `${named(run.point)}: ${problem}`));
      }
    }
    expect(wrong).toEqual([]);
    expect([...(await replayRuns(stage.world.place, runIds))]).toEqual([]);
  },
  LIMIT,
);
