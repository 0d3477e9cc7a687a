/**
 * Whatever was the last thing to get through before a worker is killed, the run comes to the
 * same result, the same events and the same conversation, and what it does happens once. Every event of a
 * history is written by a message between worker and server, so a worker that dies before and after each of
 * them dies at every event id; a few more die in the middle of an activity, or while a person is waited for.
 *
 * HOLDFAST_WHOLE=1: at all messages, not at some that are drawn; HOLDFAST_SEED: of the draw.
 */
import { agree } from '../../evaluation/agree.js';
import type { Observation } from '../../evaluation/engine.js';
import type { RunEvent } from '../../core/state/event.js';
import type { RunResult } from '../../core/state/result.js';
import { replayRuns } from '../../testing/replay.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import {
  killed,
  played,
  startStage,
  type Killed,
  type Played,
  type Stage,
} from './support/killed-run.js';
import { INSIDE, pointsOf, type Point } from './support/kill-points.js';

const MINUTE = 60_000;
const SHOWN_CHARS = 600;
const COUNT = WHOLE ? Infinity : 6;
/** Runs that have lost their line stay in the slots of their worker: it does not take too many. */
const RUNS_PER_WORKER = 20;
/** Every batch has a worker of its own to lose, and takes half a minute on a busy machine. */
const LIMIT = WHOLE ? 20 * MINUTE : 5 * MINUTE;

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
    saySeed(`workers killed at ${chosen.length} of ${INSIDE.length + all.length} points`);

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

function problemsOf(whole: Played, run: Killed): readonly string[] {
  const { violations } = run.observation;
  const lost = run.askedAgain ? [...ATTEMPTS, ...MONEY] : ATTEMPTS;
  const differences = agree(without(lost, whole.observation), without(lost, run.observation));
  return [
    ...(run.reached ? [] : ['the run never came to this point']),
    ...violations,
    ...(differences.length > 0 ? [told(differences).slice(0, SHOWN_CHARS)] : []),
    ...(told(run.asked) === told(whole.asked) ? [] : ['the model was asked something else']),
    ...(told(run.effects) === told(whole.effects) ? [] : [`effects ${told(run.effects)}`]),
    ...(run.askedAgain && bringsReply(run.point) ? ['a finished reply was asked for again'] : []),
    ...(costOf(run) < costOf(whole) ? [`it cost ${costOf(run)}, not ${costOf(whole)}`] : []),
  ];
}

/** What tells of attempts that died with the worker, not of the run. */
const ATTEMPTS = ['attempts', 'toolAttempts'];
/** An attempt that nobody knows the end of is paid for. */
const MONEY = ['usage', 'costMicroUsd'];

function without(fields: readonly string[], observation: Observation): Observation {
  const events = begunOnce(observation.events);
  const kept = (key: string, value: unknown): unknown => {
    if (key === 'trace') return { ...(value as RunResult['trace']), events: events.length };
    return fields.includes(key) ? undefined : value;
  };
  return JSON.parse(JSON.stringify({ ...observation, events }, kept)) as Observation;
}

/**
 * Without the beginnings of further attempts, and without how their loss was found out: a payment that was lost, and
 * had not happened, is started once more under its key; a request that was lost is made again.
 */
function begunOnce(events: readonly RunEvent[]): readonly RunEvent[] {
  const started = new Set<string>();
  return events.filter((event) => {
    if (event.type === 'retry' || event.type === 'tool_reconciled') return false;
    if (event.type !== 'tool_started') return true;
    const again = started.has(event.key);
    started.add(event.key);
    return !again;
  });
}

/** The reply is there, and the workflow has not heard of it. */
function bringsReply(point: Point): boolean {
  return point.kind === 'message' && /call_model|compact/.test(point.message.activity);
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
