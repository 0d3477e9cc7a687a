/**
 * Scenario S184: whatever was the last thing to get through before a worker is killed, the run comes to the
 * same result, the same events and the same conversation, and what it does happens once. Every event of a
 * history is written by a message between worker and server, so a worker that dies before and after each of
 * them dies at every event id; a few more die in the middle of an activity, or while a person is waited for.
 *
 * HOLDFAST_KILL_POINTS: `all`, or how many messages are drawn (default 10); HOLDFAST_SEED: of the draw.
 */
import { agree } from '../../evaluation/agree.js';
import type { Observation } from '../../evaluation/engine.js';
import { replayRuns } from '../../testing/replay.js';
import { killed, played, startStage, type Played, type Stage } from './support/killed-run.js';
import { drawn, INSIDE, pointsOf, type Point } from './support/kill-points.js';

const MINUTE = 60_000;
const SEED = Number(process.env.HOLDFAST_SEED ?? Math.floor(Math.random() * 1_000_000));
const POINTS = process.env.HOLDFAST_KILL_POINTS ?? '10';
const COUNT = POINTS === 'all' ? Infinity : Number(POINTS);
/** Runs that have lost their line stay in the slots of their worker: it does not take too many. */
const RUNS_PER_WORKER = 20;
/** Every batch has a worker of its own to lose, and takes half a minute on a busy machine. */
const LIMIT = POINTS === 'all' ? 20 * MINUTE : 5 * MINUTE;

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
}, MINUTE);
afterAll(() => stage.stop(), MINUTE);

test(
  'a worker killed at any point changes nothing in the end',
  async () => {
    const whole = await played(stage);
    expect(whole.effects).toEqual(['the-run:1']);
    const all = pointsOf(whole.messages);
    const chosen = [...INSIDE, ...drawn(all, COUNT, SEED)];
    console.log(`${chosen.length} points of ${INSIDE.length + all.length}, HOLDFAST_SEED=${SEED}`);

    const wrong: string[] = [];
    const runIds: string[] = [];
    for (let first = 0; first < chosen.length; first += RUNS_PER_WORKER) {
      for (const run of await killed(stage, chosen.slice(first, first + RUNS_PER_WORKER))) {
        runIds.push(run.runId);
        const note = (what: unknown): unknown => wrong.push(`${named(run.point)}: ${told(what)}`);
        const lost = lostWith(run.point);
        const differences = agree(without(lost, whole.observation), without(lost, run.observation));
        if (!run.reached) note('the run never came to this point');
        if (run.observation.violations.length > 0) note(run.observation.violations);
        if (differences.length > 0) note(differences[0]);
        if (costOf(run) < costOf(whole)) note(`it cost ${costOf(run)}, whole ${costOf(whole)}`);
        if (told(run.effects) !== told(whole.effects)) note(run.effects);
        if (told(run.asked) !== told(whole.asked)) note('the model was asked something else');
      }
    }
    expect(wrong).toEqual([]);
    expect([...(await replayRuns({ address: stage.world.server.address }, runIds))]).toEqual([]);
  },
  LIMIT,
);

/** What tells of attempts that died with the worker, not of the run. */
const ATTEMPTS = ['attempts', 'toolAttempts'];
const MONEY = ['usage', 'costMicroUsd'];

/** Only a reply that was cut in the middle is paid for without being had. */
function lostWith(point: Point): readonly string[] {
  const paid =
    point.kind === 'inside' &&
    (point.what === 'in the middle of a reply' || point.what === 'in the middle of a summary');
  return paid ? [...ATTEMPTS, ...MONEY] : ATTEMPTS;
}

function without(fields: readonly string[], observation: Observation): Observation {
  const kept = (key: string, value: unknown): unknown => (fields.includes(key) ? undefined : value);
  return JSON.parse(JSON.stringify(observation, kept)) as Observation;
}

function costOf({ observation }: Played): number {
  return observation.result?.costMicroUsd ?? 0;
}

function named(point: Point): string {
  if (point.kind === 'inside') return point.what;
  const { number, name, activity } = point.message;
  return `message ${number} (${name} ${activity}) ${point.fate}`;
}

function told(what: unknown): string {
  return JSON.stringify(what);
}
