/** One case of a goal on a real server: started, watched, and looked at with its cycles when it has ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { GoalHandle, HoldfastClient, RunHandle } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { OpenRunInput } from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import { wholeEvents } from '../../core/step/outbox.js';
import { ofType } from '../compare/trail.js';
import type { CaseRun } from '../engine.js';
import type { Fixture } from '../fixture.js';
import type { CaseGoal } from '../goal-case.js';
import { cycleOfRun } from '../goal-tree.js';
import { castOf, type Cast } from '../scripted/cast.js';
import { decisionOf } from '../scripted/decisions.js';
import { evidenceOf } from '../scripted/evidence.js';
import { goalLeft } from '../scripted/goal-left.js';
import { briefsOf, savedOf } from '../scripted/goal-seen.js';
import {
  decidedIn,
  goalRequestOf,
  isSaidToGoal,
  messageBodyOf,
  saidBy,
} from '../scripted/goal-start.js';
import { occurrenceOf, openedOf, reachAtEnd } from '../scripted/moments.js';
import { caseLife, type CaseLife, type Work } from './case-life.js';
import type { PlayOptions } from './case-play.js';
import { watchGoal } from './goal-watch.js';
import { atBeginning, movesTime } from './moving-time.js';
import { sendingOf, type Sending } from './sending.js';
import { losesWork } from './skip.js';
import { tellRun, temporalStage, type Sent, type StageFacts } from './temporal-stage.js';
import { turnsOf } from './turns.js';

/** No case takes longer than this, in ms. */
const CASE_LIMIT_MS = 200_000;
const SHORT_HEARTBEATS = { heartbeatMs: { repeatable: 3_000, single: 3_000 } };
const TENANT = 'default';

export async function playGoalCase(
  fixture: Fixture,
  goal: CaseGoal,
  options: PlayOptions,
): Promise<CaseRun> {
  const { host, runId: goalId } = options;
  const over = new AbortController();
  const handle = host.client.goal(goalId);
  const turns = turnsOf(() => toolsInFlight(newestCycle(host.client, life)));
  const sending = sendingOf();
  const stage = temporalStage<GoalFacts>(
    () => ({ handle, goal, client: host.client, host, life, turns }),
    sendingToTree(),
  );
  const cast = castOf(fixture, { stage }, losesWork(fixture) ? SHORT_HEARTBEATS : {});
  const { moments } = cast;
  const ofPass = savedOf(moments);
  const life: CaseLife = caseLife({
    cast: () => cast,
    turns,
    sending,
    over: over.signal,
    onInput: (work) => cycleStarts(cast, work),
    awaitsOpening: (id) => losesWork(fixture) || awaitsCycle(id) || moments.expects(openedOf(id)),
    async onOutput(kind, input) {
      const { runId } = input.run;
      if (kind === 'open_run') {
        const n = cycleOfRun(runId);
        const started = life.events(goalId).filter((event) => isStart(event, n));
        for (const event of started) await reachAtEnd(moments, occurrenceOf(event), stage.worker());
        await reachAtEnd(moments, openedOf(runId), stage.worker());
      }
      if (kind !== 'save_checkpoint') return;
      for (const event of wholeEvents(input)) ofPass.keeps(event);
      if (ofPass.expects(goalId)) await stage.worker().together(() => ofPass.saved(goalId));
      else await ofPass.saved(goalId);
    },
  });
  function awaitsCycle(runId: string): boolean {
    const n = cycleOfRun(runId);
    const started = life.events(goalId).filter((event) => isStart(event, n));
    return started.some((event) => moments.expects(occurrenceOf(event)));
  }
  host.cases.set(goalId, life);
  try {
    const began = performance.now();
    return await play({ fixture, goal, cast, life, sending, handle, ...options, began }, over);
  } finally {
    over.abort();
  }
}

function isStart(event: RunEvent, n: number | undefined): boolean {
  return event.type === 'cycle_started' && event.n === n;
}

function cycleStarts(cast: Cast, { kind, input }: Work): void {
  if (kind !== 'open_run') return;
  const { run, start } = input as OpenRunInput;
  const n = cycleOfRun(run.runId);
  if (n !== undefined && start !== undefined) cast.cycleStarts({ n, agent: start.agent });
}

interface Playing extends PlayOptions {
  readonly fixture: Fixture;
  readonly goal: CaseGoal;
  readonly cast: Cast;
  readonly life: CaseLife;
  readonly sending: Sending;
  readonly handle: GoalHandle;
  readonly began: number;
}

async function play(playing: Playing, over: AbortController): Promise<CaseRun> {
  const { cast, host, handle, sending, signal, runId: goalId } = playing;
  await atBeginning(host, playing.goal);
  try {
    await begin(playing);
  } catch (error) {
    return notStarted(playing, error);
  }
  const stop = new AbortController();
  const limits = [stop.signal, over.signal, ...(signal === undefined ? [] : [signal])];
  const until = AbortSignal.any(limits);
  const watched = watchGoal({
    store: host.store,
    goal: { tenant: TENANT, goalId },
    reach: (occurrence) => sending.during(() => cast.moments.reach(occurrence)),
    isResting: () => isResting(handle),
    ...movesTime(host, () => [goalId, ...newestCycleOf(playing.life)]),
    signal: until,
  });
  try {
    const ended = await Promise.race([
      resultOf(playing, until),
      watched.then((why) =>
        why === 'ended' ? sleep(CASE_LIMIT_MS, 'late' as const, { ref: false }) : why,
      ),
    ]);
    if (typeof ended !== 'string') return await observe(playing, ended);
    stop.abort();
    await handle.cancel({ by: 'harness' }).catch(() => undefined);
    return ended === 'late'
      ? { kind: 'broken', message: `The goal had not ended after ${CASE_LIMIT_MS} ms.` }
      : { kind: 'skipped', why: 'needs virtual time' };
  } finally {
    stop.abort();
  }
}

/** What is to happen at the start happens before any worker has seen the goal. */
async function begin({ fixture, goal, cast, host, runId: goalId }: Playing): Promise<void> {
  await host.client.startGoal({ ...goalRequestOf(fixture, goal), goalId, wait: false });
  if (!cast.moments.expects({ kind: 'start' })) return;
  await cast.moments.reach({ kind: 'start' });
  await host.serve();
}

const RESTING: readonly string[] = ['sleeping', 'paused'];

async function isResting(handle: GoalHandle): Promise<boolean> {
  const view = await handle.state().catch(() => undefined);
  if (view === undefined) return false;
  // A cycle that waits for a person is a wait of the goal as well.
  const waits = RESTING.includes(view.status) || view.status.startsWith('awaiting_');
  return waits || view.cycle !== undefined;
}

function newestCycle(client: HoldfastClient, life: CaseLife): RunHandle | undefined {
  const [newest] = newestCycleOf(life);
  return newest === undefined ? undefined : client.handle(newest);
}

/** One or none. */
function newestCycleOf(life: CaseLife): readonly string[] {
  const newest = life.runs().findLast((runId) => cycleOfRun(runId) !== undefined);
  return newest === undefined ? [] : [newest];
}

async function toolsInFlight(run: RunHandle | undefined): Promise<readonly string[]> {
  if (run === undefined) return [];
  const { activities, attempt } = await run.execution();
  if (attempt > 0) throw new Error('The run is about to hear of something.');
  return activities.filter(({ type }) => type === 'execute_tool').map(({ id }) => id);
}

interface GoalFacts extends StageFacts {
  readonly handle: GoalHandle;
  readonly goal: CaseGoal;
  readonly client: HoldfastClient;
}

/** What is said to the goal, or to the run of its tree that it is meant for; messages are counted as the simulation does. */
function sendingToTree(): (facts: GoalFacts, action: Sent) => Promise<void> {
  let said = 0;
  return async (facts, action) => {
    const { handle, goal, client, life } = facts;
    if (isSaidToGoal(action)) {
      said += 1;
      await handle.say(messageBodyOf(action), { ...saidBy(goal), id: `said-${said}` });
      return;
    }
    switch (action.kind) {
      case 'cancel':
        return client.handle(handle.goalId).cancel();
      case 'continueAsNew':
        return client.handle(handle.goalId).nextSegment();
      case 'resolveApproval':
        return decide(facts, action);
      default: {
        const run = newestCycle(client, life);
        return run === undefined ? undefined : tellRun(run, facts, action);
      }
    }
  };
}

async function decide(
  facts: GoalFacts,
  action: Extract<Sent, { kind: 'resolveApproval' }>,
): Promise<void> {
  const { handle, client, host, life } = facts;
  const { goalId } = handle;
  const own = life.events(goalId);
  const agents = new Map(ofType(own, 'cycle_started').map(({ n, agent }) => [n, agent]));
  const tree = life.runs().flatMap((runId) => life.events(runId));
  const inTime = tree.toSorted((one, other) => one.stamp.at - other.stamp.at);
  const runId = decidedIn(action, inTime, { goalId, agentOf: (n) => agents.get(n) }) ?? goalId;
  if (runId !== goalId) return tellRun(client.handle(runId), facts, action);
  const decision = decisionOf(action, { runId, events: own, now: host.now() });
  await host.decide(goalId, { ...decision, nonce: `${action.by ?? ''}-${performance.now()}` });
}

/** Its result is that of its last event. */
interface Ended {
  readonly failure?: unknown;
}

async function resultOf({ handle }: Playing, signal: AbortSignal): Promise<Ended> {
  try {
    await handle.result({ timeoutMs: CASE_LIMIT_MS, signal });
    return {};
  } catch (failure) {
    return { failure };
  }
}

async function observe(playing: Playing, ended: Ended): Promise<CaseRun> {
  const { cast, host, replays, runId: goalId } = playing;
  const left = await goalLeft(host.store, { tenant: TENANT, runId: goalId });
  if (left === undefined) return notStarted(playing, ended.failure);
  const { result, events, tree, memory, cycles } = left;
  if (tree.some((event) => cast.moments.expects(occurrenceOf(event)))) {
    return { kind: 'skipped', why: 'no seam' };
  }
  const { caseId } = playing.fixture;
  for (const runId of [goalId, ...cycles]) {
    await playing.onEnded?.({ caseId, runId, store: host.store });
  }
  const failures = await Promise.all([goalId, ...cycles].map((runId) => replays.failureOf(runId)));
  const replayFailures = failures.filter((failure) => failure !== undefined);
  const violations = [
    ...left.violations,
    ...replayFailures.map((failure) => `the history does not replay: ${failure}`),
  ];
  return {
    kind: 'observed',
    observed: {
      ...evidenceOf(playing, tree),
      events,
      result,
      transcript: [],
      violations,
      replayed: replayFailures.length === 0,
      goal: {
        tree,
        briefs: briefsOf(events, cast.requests),
        ...(memory !== undefined && { memory }),
      },
    },
  };
}

function notStarted(playing: Playing, error: unknown): CaseRun {
  if (!(error instanceof HoldfastError)) {
    return { kind: 'broken', message: error instanceof Error ? error.message : String(error) };
  }
  const { code, message } = error;
  if (code === 'NetworkTimeout' || code === 'ServerUnavailable') return { kind: 'broken', message };
  const startError = { code, message };
  return {
    kind: 'observed',
    observed: { ...evidenceOf(playing, []), startError, transcript: [] },
  };
}
