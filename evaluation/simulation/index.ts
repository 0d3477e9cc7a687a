/**
 * The engine `simulation`: the real core and activities in this process, under a virtual clock. Cases need
 * no server and take milliseconds.
 */
import { seedFiles } from '../case-files.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Run } from '../../core/state/run.js';
import { parseStart } from '../../core/messages/parse-start.js';
import type { StartInput } from '../../core/state/task.js';
import {
  startSimulation,
  virtualClock,
  SIMULATION_START,
  type Simulation,
} from '../../testing/simulation/index.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import type { CaseRun, Engine, Observation } from '../engine.js';
import type { Fixture } from '../fixture.js';
import { RealTime } from '../real-time.js';
import { castOf, type Cast } from '../scripted/cast.js';
import { startOf } from '../scripted/config.js';
import { occurrenceOf, openedOf } from '../scripted/moments.js';
import { notYet } from '../scripted/not-yet.js';
import type { LivePlay } from '../scripted/live.js';
import { evidenceOf } from '../scripted/evidence.js';
import { finalViolations, transcriptAt, withTexts } from '../scripted/observe.js';
import { seedSessions, sessionEvidence, sessionOf } from '../scripted/sessions.js';
import { streamViolations } from '../scripted/streamed.js';
import { playGoal, type GoalPlay } from './goal-play.js';
import { sendToRun, simulatedStage, type Sent } from './simulated-stage.js';

/** Everything happens in this process: more cases at once would only wait for one another. */
const CONCURRENCY = 1;
const TENANT = 'default';

export interface SimulationEngineOptions {
  /** The rules that runs follow; default: the newest. */
  readonly rules?: number;
  /** What stores call themselves; default: each has an id of its own. */
  readonly storeId?: string;
  /** Called after each decision of a case, with what it started. */
  readonly onStep?: GoalPlay['onStep'];
  /** A real model plays the one case that this engine is for. */
  readonly live?: LivePlay;
  /** Told every event of a tree of runs when it happens, and of which run, as it is then. */
  readonly hear?: (event: RunEvent, run: Run) => void;
}

export function createSimulationEngine(options: SimulationEngineOptions = {}): Engine {
  const stores = storePool(options.storeId);
  return {
    name: 'simulation',
    concurrency: CONCURRENCY,
    async run(fixture) {
      const missing = notYet(fixture);
      if (missing !== undefined) return broken(`not supported yet: ${missing}`);
      const store = await stores.take();
      try {
        const { goal } = fixture;
        return goal === undefined
          ? await play(fixture, store, options)
          : observed(await playGoal(fixture, store, options));
      } catch (error) {
        return broken(wordsOf(error));
      } finally {
        await stores.giveBack(store);
      }
    },
    stop: () => stores.close(),
  };
}

function broken(message: string): CaseRun {
  return { kind: 'broken', message };
}

function wordsOf(error: unknown): string {
  if (error instanceof HoldfastError) return `${error.message} ${error.hint ?? ''}`.trimEnd();
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function play(
  fixture: Fixture,
  store: MemoryStore,
  options: SimulationEngineOptions,
): Promise<CaseRun> {
  const began = performance.now();
  const playing: { simulation?: Simulation } = {};
  const time = new RealTime();
  const cast = castOf(fixture, {
    time,
    stage: simulatedStage(() => playing.simulation!, sendToRun),
    live: options.live,
    subAgentOf: async (runId) => (await store.childRow(TENANT, runId))?.place?.path.at(-1),
  });
  const unstarted = { cast, began, fixture };
  await seedSessions(store, fixture);
  await seedFiles(store, TENANT, fixture);
  const start = await startIn(store, fixture);
  if (start instanceof HoldfastError) {
    return observed(notStarted(unstarted, start.code, start.message));
  }
  const simulation = (playing.simulation = begin(fixture, {
    ...options,
    store,
    cast,
    start,
    time,
  }));
  options.live?.attach((action) => sendToRun(simulation, action as Sent));
  const { moments } = cast;
  void moments.reach({ kind: 'start' });
  const final = await simulation.finish();
  await cast.servers?.close();
  if (final.kind === 'refused') {
    return observed(notStarted(unstarted, final.code, final.message));
  }
  const { tenant, head } = simulation.run();
  const transcript = await transcriptAt(store, tenant, head);
  const events = await withTexts(store, tenant, simulation.events);
  const result = await withTexts(store, tenant, final.result);
  const { live } = options;
  if (live !== undefined) live.unmatched = await withTexts(store, tenant, live.unmatched);
  const { config } = cast;
  const place = { tenant, runId: fixture.caseId };
  const streamed = await streamViolations(store, place, { config, events });
  return observed({
    ...evidenceOf({ ...unstarted, tree: await withTexts(store, tenant, simulation.tree) }, events),
    ...(await sessionEvidence(store, fixture, events)),
    result,
    transcript,
    violations: [
      ...simulation.violations,
      ...finalViolations({ events, transcript, result }),
      ...streamed,
    ],
  });
}

/** The start, or why a client would not send it. */
async function startIn(store: MemoryStore, fixture: Fixture): Promise<StartInput | HoldfastError> {
  try {
    const session = await sessionOf(store, fixture);
    const parsed = parseStart({ ...startOf(fixture), ...(session !== undefined && { session }) });
    return parsed.ok ? parsed.value : new HoldfastError('InvalidTask', parsed.reason);
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
}

interface Setting extends SimulationEngineOptions {
  readonly store: MemoryStore;
  readonly cast: Cast;
  readonly start: StartInput;
  /** Work of the configuration's own code. */
  readonly time: RealTime;
}

function begin(
  fixture: Fixture,
  { store, cast, start, live, hear, time, ...options }: Setting,
): Simulation {
  const { config, providers, moments, summaries, servers } = cast;
  return startSimulation({
    ...options,
    store,
    config,
    providers,
    ...servers?.world,
    outside: anyOf([servers?.world.outside, live?.outside, () => time.current()]),
    inRealTime: (work) => time.during(work),
    ...(live === undefined && { sizeAfterSummary: (input) => summaries.sizeAfter(input) }),
    start,
    runId: fixture.caseId,
    clock: virtualClock(SIMULATION_START),
    onEvent: (event: RunEvent, run: Run) => {
      const occurrence = occurrenceOf(event);
      // The worker that dies as a tool starts is the one that runs it: its double does that.
      const dies =
        event.type === 'tool_started' &&
        fixture.tools.get(event.tool)?.builtIn !== true &&
        moments.expects(occurrence, 'killWorker');
      if (!dies) void moments.reach(occurrence);
      live?.hear(event, run);
      hear?.(event, run);
    },
    onOpened: (runId) => void moments.reach(openedOf(runId)),
  });
}

type Outside = () => Promise<unknown> | undefined;

/** Of several kinds of work in real time: whether any is under way, until something of it ends. */
function anyOf(all: readonly (Outside | undefined)[]): Outside {
  return () => {
    const underWay = all.flatMap((one) => one?.() ?? []);
    return underWay.length === 0 ? undefined : Promise.race(underWay);
  };
}

interface Played {
  readonly fixture: Fixture;
  readonly cast: Cast;
  readonly began: number;
}

function notStarted(played: Played, code: string, message: string): Observation {
  return { ...evidenceOf(played, []), startError: { code, message }, transcript: [] };
}

function observed(observation: Observation): CaseRun {
  return { kind: 'observed', observed: observation };
}

/** One store at a time is in use by one case; emptying it is cheaper than opening another. */
function storePool(id: string | undefined) {
  const all: MemoryStore[] = [];
  const free: MemoryStore[] = [];
  return {
    async take(): Promise<MemoryStore> {
      const store = free.pop() ?? (await openMemoryStore(id));
      if (!all.includes(store)) all.push(store);
      return store;
    },
    async giveBack(store: MemoryStore): Promise<void> {
      await store.empty();
      free.push(store);
    },
    async close(): Promise<void> {
      await Promise.all(all.map((store) => store.close()));
    },
  };
}
