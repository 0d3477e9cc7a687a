/** A case of a goal in the simulation. */
import { parseDecision } from '../../core/messages/parse-message.js';
import { parseGoalMessage } from '../../core/messages/parse-goal-message.js';
import type { Carrier } from '../../core/state/carrier.js';
import type { Effect } from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import { checkGoal } from '../../client/goals/check-goal.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { GoalStart } from '../../core/state/goal/definition.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import {
  SIMULATION_START,
  startGoalSimulation,
  virtualClock,
  type GoalInputMessage,
  type GoalSimulation,
} from '../../testing/simulation/index.js';
import { checkGoalEnd } from '../../pure/goal/invariants.js';
import type { MemoryStore } from '../../store/store.js';
import type { Observation } from '../engine.js';
import type { Fixture, ResolveApproval } from '../fixture.js';
import type { CaseGoal, GoalAction } from '../goal-case.js';
import { cycleOfRun } from '../goal-tree.js';
import { castOf, type Cast } from '../scripted/cast.js';
import { decisionOf } from '../scripted/decisions.js';
import { evidenceOf } from '../scripted/evidence.js';
import {
  decidedIn,
  goalRequestOf,
  isSaidToGoal,
  messageBodyOf,
  saidBy,
} from '../scripted/goal-start.js';
import { occurrenceOf, openedOf, type Moments } from '../scripted/moments.js';
import { finalViolations, transcriptAt, withTexts } from '../scripted/observe.js';
import { briefsOf, memoryOf, savedOf } from '../scripted/goal-seen.js';
import { messageOf, simulatedStage, type Sent } from './simulated-stage.js';

function goalOf({ caseId, goal }: Fixture): CaseGoal {
  if (goal === undefined) throw new Error(`${caseId} is no case of a goal`);
  return goal;
}

export interface GoalPlay {
  /** The rules that the goal and its cycles follow; default: the newest. */
  readonly rules?: number;
  /** Told of the simulation before anything of it happens. */
  readonly begun?: (simulation: GoalSimulation) => void;
  /** Called after each decision, of the goal and of its cycles, with what it started. */
  readonly onStep?: (carrier: Carrier, effects: readonly Effect[]) => void;
}

export async function playGoal(
  fixture: Fixture,
  store: MemoryStore,
  play: GoalPlay = {},
): Promise<Observation> {
  const goal = goalOf(fixture);
  const began = performance.now();
  const playing: { simulation?: GoalSimulation } = {};
  const saying = sayingOf(goal);
  const stage = simulatedStage(() => playing.simulation!, saying);
  const cast = castOf(fixture, { stage });
  const start = startIn(fixture, goal);
  if (start instanceof HoldfastError) return notStarted({ cast, began, fixture }, start);
  const simulation = (playing.simulation = begin({ fixture, start, store, cast, play }));
  play.begun?.(simulation);
  void cast.moments.reach({ kind: 'start' });
  const final = await simulation.finish();
  await cast.servers?.close();
  if (final.kind === 'refused') return notStarted({ cast, began, fixture }, final);
  const { tenant } = simulation.goal();
  const tree = await withTexts(store, tenant, simulation.tree);
  const events = tree.filter(({ stamp }) => stamp.runId === fixture.caseId);
  const result = await withTexts(store, tenant, final.result);
  const memory = await memoryOf(store, tenant, final.result);
  const briefs = briefsOf(events, cast.requests);
  return {
    ...evidenceOf({ cast, began, fixture }, tree),
    events,
    result,
    transcript: [],
    violations: await violationsIn(simulation, { store, result, memory }),
    goal: { tree, briefs, ...(memory !== undefined && { memory }) },
  };
}

function startIn(fixture: Fixture, goal: CaseGoal): GoalStart | HoldfastError {
  try {
    return checkGoal(goalRequestOf(fixture, goal));
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
}

function notStarted(
  played: { readonly cast: Cast; readonly began: number; readonly fixture: Fixture },
  { code, message }: { readonly code: string; readonly message: string },
): Observation {
  return { ...evidenceOf(played, []), startError: { code, message }, transcript: [] };
}

interface Setting {
  readonly fixture: Fixture;
  readonly start: GoalStart;
  readonly store: MemoryStore;
  readonly cast: Cast;
  readonly play: GoalPlay;
}

function begin({ fixture, start, store, cast, play }: Setting): GoalSimulation {
  const { config, providers, moments, summaries, servers } = cast;
  const { rules, onStep } = play;
  const watching = onStep !== undefined && { onStep };
  const goalId = fixture.caseId;
  const ofPass = savedOf(moments);
  return startGoalSimulation({
    ...(rules !== undefined && { rules }),
    ...watching,
    store,
    config,
    providers,
    ...servers?.world,
    sizeAfterSummary: (input) => summaries.sizeAfter(input),
    start,
    goalId,
    clock: virtualClock(SIMULATION_START),
    onEvent: (event) => {
      if (!ofPass.keeps(event)) void moments.reach(occurrenceOf(event));
    },
    onOutput: (kind) => {
      if (kind === 'save_checkpoint') void ofPass.saved(goalId);
    },
    ofCycle: {
      ...watching,
      onStart: (runId, { agent }) => cast.cycleStarts({ n: cycleOfRun(runId) ?? 0, agent }),
      onEvent: (event) => reachInCycle(moments, event),
      onOpened: (runId) => void moments.reach(openedOf(runId)),
    },
  });
}

function reachInCycle(moments: Moments, event: RunEvent): void {
  const occurrence = occurrenceOf(event);
  // The worker that dies as a tool starts is the one that runs it: its double does that.
  const dies = event.type === 'tool_started' && moments.expects(occurrence, 'killWorker');
  if (!dies) void moments.reach(occurrence);
}

/** What is said to the goal, or to the run of its tree that it is meant for. */
function sayingOf(goal: CaseGoal): (simulation: GoalSimulation, action: Sent) => void {
  let said = 0;
  return (simulation, action) => {
    if (isSaidToGoal(action)) {
      said += 1;
      return simulation.send(goalMessage(goal, action, { said, now: simulation.clock.now() }));
    }
    if (action.kind === 'cancel') return simulation.send({ type: 'cancel_requested' });
    if (action.kind === 'resolveApproval') return decide(simulation, action);
    return tellCycle(simulation, action);
  };
}

function goalMessage(
  goal: CaseGoal,
  action: GoalAction,
  { said, now: at }: { readonly said: number; readonly now: number },
): GoalInputMessage {
  const id = `said-${said}`;
  const parsed = parseGoalMessage({ v: 1, id, at, ...saidBy(goal), ...messageBodyOf(action) });
  return parsed.ok
    ? { type: 'goal_message', message: parsed.value }
    : { type: 'input_rejected', message: 'goalMessage', reason: parsed.reason };
}

function decide(simulation: GoalSimulation, action: ResolveApproval): void {
  const { tree, cycles, clock } = simulation;
  const goalId = simulation.goal().runId;
  const agentOf = (n: number): string | undefined =>
    [...cycles.values()].find(({ runId }) => cycleOfRun(runId) === n)?.start.agent;
  const runId = decidedIn(action, tree, { goalId, agentOf }) ?? newestOf(simulation)?.runId;
  const cycle = runId === undefined ? undefined : cycles.get(runId);
  const now = clock.now();
  if (cycle !== undefined) {
    return cycle.send(messageOf({ runId: cycle.runId, events: cycle.events, now }, action));
  }
  const { events } = simulation;
  const parsed = parseDecision(decisionOf(action, { runId: goalId, events, now }));
  simulation.send(
    parsed.ok
      ? { type: 'decision', decision: parsed.value }
      : { type: 'input_rejected', message: 'resolveApproval', reason: parsed.reason },
  );
}

/** Whatever else is said, the cycle that is open hears. */
function tellCycle(simulation: GoalSimulation, action: Exclude<Sent, GoalAction>): void {
  const cycle = newestOf(simulation);
  if (cycle === undefined || cycle.isOver()) return;
  const { runId, events } = cycle;
  cycle.send(messageOf({ runId, events, now: simulation.clock.now() }, action));
}

function newestOf({ cycles }: GoalSimulation) {
  return [...cycles.values()].at(-1);
}

interface Ended {
  readonly store: MemoryStore;
  readonly result: NonNullable<Observation['result']>;
  readonly memory: GoalMemory | undefined;
}

async function violationsIn(
  simulation: GoalSimulation,
  { store, result, memory }: Ended,
): Promise<readonly string[]> {
  const goal = simulation.goal();
  const cycles = [...simulation.cycles.values()];
  const ofCycles: string[] = [];
  for (const cycle of cycles) {
    const { final, head, tenant } = cycle.run();
    if (final?.kind !== 'result') continue;
    const transcript = await transcriptAt(store, tenant, head);
    const events = await withTexts(store, tenant, cycle.events);
    const found = finalViolations({ events, transcript, result: final.result });
    ofCycles.push(...found.map((violation) => `${cycle.runId}: ${violation}`));
  }
  return [
    ...simulation.violations(),
    ...ofCycles,
    ...checkGoalEnd({
      checking: simulation.checking(),
      goal,
      result,
      events: simulation.events,
      ...(memory !== undefined && { memory }),
      cycles: cycles.map(({ runId, events }) => ({ n: cycleOfRun(runId) ?? 0, events })),
    }),
  ];
}
