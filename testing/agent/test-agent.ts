/**
 * An agent under test: its own prompt, schemas, policy, limits and hooks, by the real core and activities on a store in
 * memory, without a server. What is outside of it is the test's: the model, the tools, the people.
 * Invariant: nothing is made up: a request, a call or a wait that the test says nothing of is an error that names it.
 */
import {
  defineConfig,
  isConfig,
  type Agent,
  type Config,
  type InputDeclaration,
  type InputOf,
} from '../../authoring/index.js';
import { answerOf } from '../../authoring/output-schema.js';
import { checkStart } from '../../client/runs/check-start.js';
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type {
  BudgetOverrides,
  SettingsOverrides,
  StartInput,
  Task,
} from '../../core/state/task.js';
import { toolKey } from '../../core/state/tool.js';
import { needed, oneOf, rules, type OptionRules } from '../../pure/options.js';
import type { Provider } from '../../providers/provider.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import {
  isCassette,
  openCassette,
  type Cassette,
  type OpenCassette,
} from '../cassette/cassette.js';
import { cassetteProviders } from '../cassette/providers.js';
import { codeIn, outsideWork, providersIn, type Counted } from '../outside-work.js';
import { refusal } from '../refusal.js';
import { waitIn } from '../virtual-wait.js';
import {
  SIMULATION_START,
  startSimulation,
  virtualClock,
  type Simulation,
} from '../simulation/index.js';
import { roleOf } from './agent-role.js';
import { withCast } from './cast.js';
import { checkFields, unfit } from './check-test.js';
import { runsOwn, withFakes, type FakePlace, type ToolFakes } from './fakes.js';
import { scriptedProvider, type ModelScript } from './model-script.js';
import { peopleOf, type People } from './people.js';
import { providerNames } from './provider-names.js';
import { testedRun, type TestedRun } from './tested-run.js';
import { checkScripts, checkTurns, SCRIPT } from './turns.js';

const RUN_ID = 'test';
const LIMIT_MS = 4_000;
/** A real vendor takes its time. */
const RECORD_LIMIT_MS = 120_000;
/** What a timer of Node can wait. */
const LIMIT_MS_MAX = 2_147_483_647;

/** What `testAgent` plays: a goal, what the model says, fakes of tools, and what people decide. */
export interface AgentTest extends People {
  /** The goal, or a whole task. */
  readonly goal: string | Task;
  /** What the model of the agent says, by request; or a cassette of a real vendor. */
  readonly model: ModelScript | Cassette;
  /** What the models of other agents say, by name: sub-agents, those that a run is handed to, supervisors. */
  readonly agents?: { readonly [agent: string]: ModelScript };
  /** By name; a call of a tool that is not among them ends the test. */
  readonly tools?: ToolFakes;
  /** 'own': the code of tools without a fake runs. Default 'fail'. */
  readonly unfaked?: 'fail' | 'own';
  /** The answer must be JSON that fits; types `output` of the run. */
  readonly output?: InputDeclaration;
  /** Of the worker: routes, defaults, other agents. Default: the agent alone. */
  readonly config?: Config;
  /** As those of a start. */
  readonly budget?: BudgetOverrides;
  readonly settings?: SettingsOverrides;
  /** Start of virtual time, ms since epoch; default 2026-01-01. */
  readonly startAt?: number;
  /** Longest wait in real time for a fake, a hook, a gate or a vendor, in ms; default 4,000, while a cassette is recorded 120,000. */
  readonly limitMs?: number;
  /** Told every event of the run and its sub-agents when it happens. */
  readonly onEvent?: (event: RunEvent) => void;
}

const TEST: OptionRules<AgentTest> = {
  // The start of a run checks these.
  ...rules('any goal budget settings output, texts messages, whole startAt, call onEvent'),
  ...rules('call approvals answers, object agents tools'),
  model: needed({ ...SCRIPT, fits: (value) => SCRIPT.fits(value) || isCassette(value) }),
  unfaked: oneOf('fail', 'own'),
  config: { is: 'what defineConfig gives', fits: isConfig },
  limitMs: {
    is: `1 to ${LIMIT_MS_MAX} ms`,
    fits: (value) => typeof value === 'number' && value > 0 && value <= LIMIT_MS_MAX,
  },
};

/**
 * Plays one run of the agent to its end, in virtual time.
 * Errors: InvalidFixture where the test says nothing of what the agent asks for; ReplayDiffers for a request that is not in
 * the cassette; CaptureRefused for a cassette that would hold a secret; ModelKeyMissing where one is recorded without access to
 * the vendor; InvalidTask and others for a start that the runtime
 * refuses. However the run ends, that is no error: see `stopReason`.
 */
export async function testAgent<Schema extends InputDeclaration>(
  agent: Agent,
  test: AgentTest & { readonly output: Schema },
): Promise<TestedRun<InputOf<Schema>>>;
export async function testAgent(agent: Agent, test: AgentTest): Promise<TestedRun>;
export async function testAgent(agent: Agent, test: AgentTest): Promise<TestedRun<unknown>> {
  checkFields('The test', test, TEST);
  const config = configWith(agent, test.config);
  refuseConnectors(config);
  checkModels(agent.name, test, config);
  const answer = test.output === undefined ? undefined : answerOf(test.output);
  const start = startOf(agent, test, answer?.jsonSchema);
  const cassette = isCassette(test.model) ? await openCassette(test.model) : undefined;
  const store = await openMemoryStore();
  try {
    const run = await played({ config, start, store, test, cassette });
    await cassette?.finish(JSON.stringify(run.transcript));
    const { output, ...rest } = run;
    if (output === undefined) return withCast(rest, config);
    return withCast({ ...rest, output: answer?.typed(output) ?? output }, config);
  } finally {
    await store.close();
  }
}

function checkModels(name: string, { model, agents }: AgentTest, config: Config): void {
  checkScripts(agents, config, name);
  if (!isCassette(model)) return checkTurns({ [name]: model });
  if (agents === undefined) return;
  const hint = 'The cassette answers for every agent: leave `agents` out.';
  throw unfit('The test has `agents` beside a cassette.', hint);
}

interface Playing {
  readonly config: Config;
  readonly start: StartInput;
  readonly store: MemoryStore;
  readonly test: AgentTest;
  readonly cassette: OpenCassette | undefined;
}

async function played(playing: Playing): Promise<TestedRun> {
  const { store, start, test, cassette } = playing;
  const limitMs = test.limitMs ?? (cassette?.records === true ? RECORD_LIMIT_MS : LIMIT_MS);
  const { counted, waiting } = outsideWork(limitMs);
  const startAt = test.startAt ?? SIMULATION_START;
  const clock = virtualClock(startAt);
  const failed = new AbortController();
  const at: { simulation?: Simulation } = {};
  const stage: Stage = {
    counted,
    agentOf: (runId) =>
      at.simulation?.members.get(runId)?.process.carrier().frozen?.agent.name ?? start.agent,
    fail: (error) => failed.abort(error),
    wait: (ms, signal) => waitIn(clock, ms, signal),
  };
  const place: FakePlace = { ...stage, fakes: test.tools ?? {}, unfaked: test.unfaked ?? 'fail' };
  const config = codeIn(counted, withFakes(playing.config, place), (tool) => runsOwn(tool, place));
  const people = peopleOf(test, {
    now: clock.now,
    counted,
    fail: (error) => failed.abort(error),
    send: (message, runId) => at.simulation?.send(message, runId),
  });
  const simulation = startSimulation({
    store,
    config,
    providers: providersOf(playing, stage),
    outside: waiting,
    inRealTime: (work) => counted(work(), 'a folder'),
    signal: failed.signal,
    clock,
    start,
    runId: RUN_ID,
    onEvent(event) {
      test.onEvent?.(event);
      people(event);
    },
  });
  at.simulation = simulation;
  const final = await ended(simulation);
  // A run that ends by itself after the test has failed is no result.
  failed.signal.throwIfAborted();
  if (final.kind === 'refused') throw refusal(final);
  refuseViolations(simulation.violations);
  const { head } = simulation.run();
  const { tree } = simulation;
  return testedRun({ store, result: final.result, head, tree, durationMs: clock.now() - startAt });
}

interface Stage {
  readonly counted: Counted;
  readonly fail: (error: unknown) => void;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Who works on a run now. */
  readonly agentOf: (runId: string) => string;
}

function providersOf(
  { config, start, test, cassette }: Playing,
  stage: Stage,
): ReadonlyMap<string, Provider> {
  const { agents = {}, model } = test;
  if (cassette !== undefined) {
    const cast = { config, agent: start.agent };
    return providersIn(stage.counted, cassetteProviders(cast, cassette, stage.fail));
  }
  const scriptOf = (agent: string): ModelScript | undefined =>
    // A role is known by its own name as well: `auditor` of `refund/auditor`.
    agent === start.agent ? (model as ModelScript) : (agents[agent] ?? agents[roleOf(agent)]);
  const provider = scriptedProvider({ ...stage, scriptOf });
  return new Map(providerNames(config).map((name) => [name, provider]));
}

async function ended(simulation: Simulation): Promise<Awaited<ReturnType<Simulation['finish']>>> {
  try {
    return await simulation.finish();
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('Nothing can ever wake'))
      throw error;
    throw new HoldfastError('InvalidFixture', error.message, {
      hint: 'Let the test answer its questions: approvals, answers, messages.',
      cause: error,
    });
  }
}

/** The agent as the test has it, in the place of one of its name. */
function configWith(agent: Agent, config: Config | undefined): Config {
  if (typeof agent?.name !== 'string' || agent.policy === undefined) {
    throw new HoldfastError('InvalidFixture', 'testAgent needs an agent.', {
      hint: 'Make it with defineAgent({…}).',
    });
  }
  if (config === undefined) return defineConfig({ agents: [agent] });
  if (config.agents.get(agent.name) === agent) return config;
  const own = defineConfig({ agents: [agent, ...others(agent, config)], routes: config.routes });
  return {
    ...config,
    agents: own.agents,
    tools: new Map([...config.tools, ...agent.tools.map(keyed), ...own.tools]),
    hooks: new Map([...config.hooks, ...own.hooks]),
  };
}

function others({ name, agents = new Map() }: Agent, config: Config): readonly Agent[] {
  const started = new Set([...agents.values()].map(({ agent }) => agent.name));
  return [...config.agents.values()].filter((one) => one.name !== name && !started.has(one.name));
}

function keyed(tool: Agent['tools'][number]): readonly [string, Agent['tools'][number]] {
  return [toolKey(tool.record), tool];
}

function refuseConnectors({ agents }: Config): void {
  const using = [...agents.values()].find(({ mcp }) => mcp.length > 0);
  if (using === undefined) return;
  throw new HoldfastError(
    'InvalidFixture',
    `The agent ${using.name} uses connectors, which testAgent cannot play.`,
    {
      hint: 'Write a case with `servers` (docs/guide/cases.md in the package holdfast), or test an agent without `mcp`.',
    },
  );
}

function startOf(
  agent: Agent,
  { goal, budget, settings }: AgentTest,
  outputSchema: { readonly [key: string]: Json } | undefined,
): StartInput {
  const task = typeof goal === 'string' ? { goal } : goal;
  return checkStart({
    agent: agent.name,
    task: { ...task, ...(outputSchema !== undefined && { outputSchema }) },
    ...(budget !== undefined && { budget }),
    ...(settings !== undefined && { settings }),
  });
}

function refuseViolations(violations: readonly string[]): void {
  if (violations.length === 0) return;
  const shown = violations.slice(0, 5).join('; ');
  throw new HoldfastError('Internal', `The run broke an invariant of the runtime: ${shown}.`, {
    hint: 'Report this as a bug of Holdfast, with the test.',
  });
}
