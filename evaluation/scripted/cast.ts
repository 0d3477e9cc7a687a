/** Everybody who plays in a case: its model, its tools, and what happens from outside. */
import { messageAgent, type Config, type Tool } from '../../authoring/index.js';
import type { Settings } from '../../core/state/settings.js';
import type { Provider } from '../../providers/provider.js';
import type { SeenRequest } from '../engine.js';
import type { CaseTool, Fixture } from '../fixture.js';
import { caseConnectors, type CaseConnectors } from '../servers/connectors.js';
import { inTurn } from '../goal-case.js';
import type { RealTime } from '../real-time.js';
import { startsNobody } from '../case-agents.js';
import { isSubAgent, placeOfRun, type PlaceOf } from '../run-tree.js';
import { cycleOfRun } from '../goal-tree.js';
import { playedAgent } from './agents.js';
import { configOf, PROVIDER } from './config.js';
import { recordExecutions, type Executions } from './executions.js';
import { maxRetriesOf, ownConfigOf, ownProviders } from './own-config.js';
import { scriptedHooks } from './hooks.js';
import type { LivePlay } from './live.js';
import { hostedTool } from './hosted.js';
import { scriptedModel, type ModelCast, type Plays } from './model.js';
import { momentsOf, type Moments } from './moments.js';
import { scriptedQuestions } from './questions.js';
import type { Stage } from './stage.js';
import { scriptedSummaries, type Summaries } from './summaries.js';
import { scriptedTool, type ToolCast } from './tools.js';

export interface Cast {
  readonly config: Config;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly summaries: Summaries;
  readonly moments: Moments;
  readonly requests: readonly SeenRequest[];
  readonly executions: Executions;
  /** Absent: the case has no servers. */
  readonly servers?: CaseConnectors;
  /** Who works a cycle of a goal; told before its run asks anything. */
  readonly cycleStarts: (cycle: { readonly n: number; readonly agent: string }) => void;
}

/** What a cast needs of its engine. */
export interface CastPlace {
  readonly stage: Stage;
  /** Name by which the model knows the sub-agent that a run is; undefined: it is none. */
  readonly subAgentOf?: (runId: string) => Promise<string | undefined>;
  /** A real model answers in place of the script. */
  readonly live?: LivePlay | undefined;
  /** Where time is virtual: work of the configuration's own code. */
  readonly time?: RealTime;
}

/** `settings` are those of the engine itself, over those of the case. */
export function castOf(
  fixture: Fixture,
  { stage, subAgentOf = () => Promise.resolve(undefined), live, time }: CastPlace,
  settings: Partial<Settings> = {},
): Cast {
  const workers = new Map<number, string>();
  const placeOf: PlaceOf = live === undefined ? placeOfRun : (runId) => live.placeOf(runId);
  const playing: { servers?: CaseConnectors } = {};
  const moments = momentsOf(
    fixture,
    async (action) => {
      if (action.kind === 'server') playing.servers?.change(action);
      else await stage.perform(action);
    },
    { agentOf: (cycle) => workers.get(cycle), placeOf },
  );
  const executions = recordExecutions();
  const maxRetries = maxRetriesOf(fixture);
  const toolCast = {
    stage,
    moments,
    executions,
    maxRetries,
    goal: fixture.goal,
    ...(time !== undefined && { ownTime: { time, stage } }),
    placeOf,
    ...heardBy(live),
  };
  const tools = codeOf(fixture, toolCast);
  const hooks = scriptedHooks(fixture, { stage, moments });
  const summaries = scriptedSummaries(fixture.compaction);
  const parts = { stage, moments, summaries, tools: fixture.tools, ...heardBy(live) };
  const model = scriptedModel(PROVIDER, playsOf(fixture, { workers, subAgentOf, placeOf }), parts);
  const own = fixture.ownAgent?.config;
  const routes = live?.routes ?? [];
  const config =
    own === undefined
      ? configOf(fixture, { tools, hooks, settings, routes })
      : ownConfigOf(fixture, own, toolCast);
  const providers =
    own === undefined
      ? new Map([[PROVIDER, model.provider]])
      : ownProviders(fixture, own, model.provider);
  const servers = caseConnectors(fixture, config, toolCast);
  if (servers !== undefined) playing.servers = servers;
  return {
    ...(servers !== undefined && { servers }),
    config: own === undefined ? config : { ...config, routes: [...routes, ...config.routes] },
    providers: live?.providers(providers, model.provider) ?? providers,
    summaries,
    moments,
    requests: model.requests,
    executions,
    cycleStarts({ n, agent }) {
      workers.set(n, agent);
    },
  };
}

/** What a record does not have is told to whoever plays with a real model. */
function heardBy(
  live: LivePlay | undefined,
): Pick<ToolCast, 'onUnmatched'> & Pick<ModelCast, 'onExhausted'> {
  if (live === undefined) return {};
  return {
    onUnmatched: (tool, input, runId) => live.callUnmatched(runId, { tool, input }),
    onExhausted: (runId = '') => live.replyUnmatched(runId),
  };
}

/** The code of the tools that no server has. */
function codeOf({ tools }: Fixture, cast: ToolCast): ReadonlyMap<string, Tool> {
  const own = [...tools].filter(([, { served }]) => served === undefined);
  return new Map(
    own.map(([name, declared]): [string, Tool] => [
      name,
      declared.builtIn === true ? messageAgent : playedTool(declared, cast),
    ]),
  );
}

function playedTool(declared: CaseTool, cast: ToolCast): Tool {
  return declared.kind === 'hosted' ? hostedTool(PROVIDER, declared) : scriptedTool(declared, cast);
}

interface Playing {
  readonly workers: ReadonlyMap<number, string>;
  readonly subAgentOf: NonNullable<CastPlace['subAgentOf']>;
  readonly placeOf: PlaceOf;
}

function playsOf(fixture: Fixture, { workers, subAgentOf, placeOf }: Playing): Plays {
  const { goal, agents, runs, model, supervisor } = fixture;
  if (goal === undefined) {
    // An agent without a script says what its run says.
    const scripted = (name: string | undefined): string | undefined =>
      agents.get(name ?? '')?.model === undefined ? undefined : name;
    return {
      shared: startsNobody(fixture) && runs.size === 0,
      agentOf: (system) => scripted(playedAgent(system)),
      ...(supervisor !== undefined && { supervisor }),
      async scriptOf(runId, agent) {
        const place = placeOf(runId);
        const own = place === undefined ? [] : runs.get(place);
        if (own !== undefined) return own;
        const named = agents.get(agent ?? '')?.model;
        if (!isSubAgent(runId)) return named ?? model;
        return named ?? agents.get((await subAgentOf(runId)) ?? '')?.model ?? [];
      },
    };
  }
  return {
    shared: false,
    questions: scriptedQuestions(goal),
    scriptOf(runId) {
      const n = cycleOfRun(runId) ?? 1;
      const own = agents.get(workers.get(n) ?? '');
      return inTurn(goal.cycles, n)?.model ?? own?.model ?? model;
    },
  };
}
