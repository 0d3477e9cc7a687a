/**
 * defineConfig: everything one worker serves.
 * Invariant: a tool's `name@version` means the same schema in every agent.
 */
import { HoldfastError } from '../core/state/errors.js';
import type { ModelRoute, UnknownModels } from '../core/state/model.js';
import type { BudgetOverrides, SettingsOverrides } from '../core/state/task.js';
import { toolKey } from '../core/state/tool.js';
import {
  parseConnection,
  type ConnectionDefinition,
  type ConnectionSettings,
} from './connection.js';
import {
  CONNECTOR_PREFIX,
  connectorNameOf,
  parseConnectors,
  type Connector,
  type ConnectorDefinition,
} from './connectors.js';
import { parseConsole, type ConsoleDefinition, type ConsoleSettings } from './console.js';
import type { Agent } from './agent.js';
import { isCheckTool, isDefinedGoal, type DefinedGoal } from './goal/define-goal.js';
import type { Hook } from './hook.js';
import type { BudgetLimits } from './budget-in-usd.js';
import { parseBudget, parseSettings } from './check-limits.js';
import { CONFIG_FIELDS, type Whole } from './field-places.js';
import { type KnownFields } from './known-fields.js';
import { misfit, rules, type Rules } from '../pure/options.js';
import { checkDefinition, fieldDefect } from './whole-definition.js';
import {
  checkedLanguageModels,
  checkedRetiredModels,
  type ConfiguredModel,
  type LanguageModelDefinition,
  type RetiredModels,
} from './language-models.js';
import { checkedRequestOptions, type RequestOptions } from './request-options.js';
import { checkedScript, type ModelScript } from './scripted.js';
import { endpointOf, type EndpointDefinition } from './endpoint-presets.js';
import { checkedEndpoints, checkedRoutes, checkedUnknownModels, type Endpoint } from './models.js';
import { checkedGate, type TaskGate } from './task-gate.js';
import type { Tool } from './tool.js';
import { parseTuning, type WorkerTuning } from './worker-tuning.js';

/** What a worker serves, and how: the content of `holdfast.config.ts`. */
export interface ConfigDefinition {
  readonly agents: readonly Agent[];
  /** Tools no agent offers any more, kept for runs that began with them. */
  readonly retiredTools?: readonly Tool[];
  /** Goals that people start by name; their agents and the tools of their checks are of this configuration. */
  readonly goals?: readonly DefinedGoal[];
  /** Read tools that checks of goals name and no agent offers: no model sees them. */
  readonly checkTools?: readonly Tool[];
  /** Hooks no agent registers any more, kept for runs that began with them. */
  readonly retiredHooks?: readonly Hook[];
  /** Models of the AI SDK's packages, by the names that agents use: `{ fast: google('gemini-…') }`. */
  readonly models?: { readonly [name: string]: LanguageModelDefinition };
  /** Models that `models` names no more, or names otherwise now, by the names of then: runs that began with them go on. */
  readonly retiredModels?: { readonly [name: string]: RetiredModels };
  /** Models beyond the built-in ones, or in their place. */
  readonly routes?: readonly ModelRoute[];
  /** Servers that speak a vendor's protocol: known ones by name, `'groq'`, or of your own. */
  readonly endpoints?: readonly EndpointDefinition[];
  /**
   * Fields of the vendor's API that each request has besides, by provider: of `anthropic` and of endpoints that speak
   * Messages. They stay in the worker.
   */
  readonly requestOptions?: RequestOptions;
  /** Answers for the models `scripted/…`, in place of a vendor: for development and demonstrations. */
  readonly scripted?: ModelScript;
  /** Default: an agent whose model is neither known nor declared cannot be served. */
  readonly unknownModels?: UnknownModels;
  /** Below what agents and starts say. */
  readonly defaults?: { readonly budget?: BudgetLimits; readonly settings?: SettingsOverrides };
  /** Refuses tasks of any agent before the first model call. */
  readonly refuseTask?: TaskGate;
  /** The approval desk (`holdfast console`). */
  readonly console?: ConsoleDefinition;
  /** The Temporal server, for workers, desk and commands; variables of the environment win. */
  readonly connection?: ConnectionDefinition;
  /** How much one worker does at a time; options of `holdfast worker` win. */
  readonly worker?: WorkerTuning;
  /** Servers of the Model Context Protocol, by name; agents name those that they use. */
  readonly mcp?: { readonly [name: string]: ConnectorDefinition };
}

const FIELDS: Whole<ConfigDefinition, typeof CONFIG_FIELDS> = CONFIG_FIELDS;

const DEFAULTS: KnownFields<NonNullable<ConfigDefinition['defaults']>> = {
  budget: true,
  settings: true,
};

/** A checked configuration. Made by `defineConfig`. */
export interface Config {
  readonly agents: ReadonlyMap<string, Agent>;
  /** By name. */
  readonly goals: ReadonlyMap<string, DefinedGoal>;
  /** Every tool's code, by `name@version`. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Every hook's code, by its name. */
  readonly hooks: ReadonlyMap<string, Hook>;
  /** By the names that agents use. */
  readonly models: ReadonlyMap<string, ConfiguredModel>;
  /** Models that only runs under way name. */
  readonly retiredModels: readonly ConfiguredModel[];
  readonly routes: readonly ModelRoute[];
  readonly endpoints: readonly Endpoint[];
  readonly requestOptions?: RequestOptions;
  readonly scripted?: ModelScript;
  readonly unknownModels: UnknownModels;
  readonly refuseTask?: TaskGate;
  readonly defaults: { readonly budget: BudgetOverrides; readonly settings: SettingsOverrides };
  readonly console: ConsoleSettings;
  readonly connection: ConnectionSettings;
  readonly worker: WorkerTuning;
  /** By name. */
  readonly connectors: ReadonlyMap<string, Connector>;
}

/**
 * Makes the configuration that `holdfast.config.ts` exports as `config`: agents, goals, models and connectors of a
 * worker. Errors: InvalidConfig, InvalidAgent, UnknownModel.
 */
export function defineConfig(definition: ConfigDefinition): Config {
  checkFields(definition);
  const place = { code: 'InvalidConfig', subject: 'The defaults' } as const;
  const refuseTask = checkedGate(definition.refuseTask, {
    code: 'InvalidConfig',
    subject: 'The configuration',
  });
  const scripted = checkedScript(definition.scripted);
  const agents = agentsByName(definition.agents);
  const { goals = [], checkTools = [] } = definition;
  const byName = goalsByName(goals);
  const tools = toolsByKey([
    ...[...agents.values()].flatMap((agent) => agent.tools),
    ...checkedCheckTools(checkTools),
    ...goals.flatMap((goal) => goal.tools),
    ...(definition.retiredTools ?? []),
  ]);
  const connectors = parseConnectors(definition.mcp);
  const routes = checkedRoutes(definition.routes ?? []);
  const unknownModels = checkedUnknownModels(definition.unknownModels ?? { prices: 'fail' });
  const models = checkedLanguageModels(definition.models ?? {}, { routes, unknownModels });
  for (const goal of goals) checkGoal(goal, { agents, tools, connectors });
  for (const agent of agents.values()) checkHandoffs(agent, agents);
  checkUses(definition.agents, connectors);
  return Object.freeze({
    agents,
    goals: byName,
    tools,
    hooks: hooksByName([
      ...[...agents.values()].flatMap((agent) => agent.hooks),
      ...(definition.retiredHooks ?? []),
    ]),
    models,
    retiredModels: checkedRetiredModels(definition.retiredModels ?? {}, models),
    routes,
    endpoints: checkedEndpoints(
      (definition.endpoints ?? []).map(endpointOf),
      scripted === undefined ? [] : ['scripted'],
    ),
    ...(definition.requestOptions !== undefined && {
      requestOptions: checkedRequestOptions(
        definition.requestOptions,
        speakersOfMessages(definition),
      ),
    }),
    ...(scripted !== undefined && { scripted }),
    unknownModels,
    ...(refuseTask !== undefined && { refuseTask }),
    defaults: {
      budget: parseBudget(definition.defaults?.budget, place),
      settings: parseSettings(definition.defaults?.settings, place),
    },
    console: parseConsole(definition.console),
    connection: parseConnection(definition.connection),
    worker: parseTuning(definition.worker),
    connectors,
  });
}

/** Of parts that nothing else looks at as a whole. */
const KINDS: Rules = rules(
  'list goals checkTools retiredTools retiredHooks routes endpoints, object defaults models retiredModels requestOptions',
);

function checkFields(definition: ConfigDefinition): void {
  checkDefinition('defineConfig({ … })', definition, 'InvalidConfig');
  const ofDefaults = fieldDefect(definition.defaults ?? {}, DEFAULTS);
  const defect =
    fieldDefect(definition, FIELDS) ??
    (ofDefaults && { ...ofDefaults, what: `${ofDefaults.what} among the defaults` });
  const unfit = defect === undefined ? misfit({ ...definition }, KINDS) : undefined;
  if (unfit !== undefined)
    throw wrong(`${unfit.name} must be ${unfit.is}.`, `Correct ${unfit.name}.`);
  if (defect === undefined) return;
  const what = `The configuration cannot be used: ${defect.what}.`;
  throw new HoldfastError('InvalidConfig', what, { hint: defect.hint });
}

/** Whether a loaded module's export came from {@link defineConfig}. */
export function isConfig(value: unknown): value is Config {
  if (typeof value !== 'object' || value === null) return false;
  const { agents, tools } = value as { agents?: unknown; tools?: unknown };
  // By behaviour, not `instanceof`: a loaded module may have its own globals.
  return [agents, tools].every((map) => typeof (map as Map<string, unknown>)?.get === 'function');
}

function agentsByName(agents: readonly Agent[]): ReadonlyMap<string, Agent> {
  if (!Array.isArray(agents) || agents.length === 0) {
    throw wrong(
      'The configuration names no agent.',
      'List your agents: defineConfig({ agents: [myAgent] }).',
    );
  }
  const byName = new Map<string, Agent>();
  for (const agent of agents as readonly Agent[]) {
    if (typeof agent?.name !== 'string' || agent.policy === undefined) {
      throw wrong('One of the agents is no agent.', 'Make each agent with defineAgent({…}).');
    }
    if (byName.has(agent.name)) {
      throw wrong(`Two agents are named ${agent.name}.`, 'Rename one of the two agents.');
    }
    byName.set(agent.name, agent);
  }
  for (const agent of agents as readonly Agent[]) addSubAgents(byName, agent);
  return byName;
}

/** Whoever serves an agent serves those that it may start, and theirs. */
function addSubAgents(byName: Map<string, Agent>, { name, agents = new Map() }: Agent): void {
  for (const { agent } of agents.values()) {
    const known = byName.get(agent.name);
    if (known !== undefined && known !== agent) {
      const hint = 'Rename one of the two agents, or list the same one.';
      throw wrong(`Two agents are named ${agent.name}; ${name} starts one of them.`, hint);
    }
    if (known !== undefined) continue;
    byName.set(agent.name, agent);
    addSubAgents(byName, agent);
  }
}

function toolsByKey(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byKey = new Map<string, Tool>();
  for (const tool of tools) {
    if (typeof tool?.record?.name !== 'string')
      throw wrong('One of the tools is no tool.', 'Make each tool with defineTool({…}).');
    const key = toolKey(tool.record);
    const other = byKey.get(key);
    if (other !== undefined && other !== tool) {
      throw wrong(
        `Two different tools are called ${key}.`,
        'Give the changed one a new version; runs under way still need the old one.',
      );
    }
    byKey.set(key, tool);
  }
  return byKey;
}

function goalsByName(goals: readonly DefinedGoal[]): ReadonlyMap<string, DefinedGoal> {
  const byName = new Map<string, DefinedGoal>();
  for (const goal of goals) {
    if (!isDefinedGoal(goal)) {
      throw wrong('One of the goals is no goal.', 'Make each goal with defineGoal({…}).');
    }
    if (byName.has(goal.name)) {
      throw wrong(`Two goals are named ${goal.name}.`, 'Rename one of the two goals.');
    }
    byName.set(goal.name, goal);
  }
  return byName;
}

function checkedCheckTools(tools: readonly Tool[]): readonly Tool[] {
  const bad = tools.find((tool) => typeof tool?.record?.name !== 'string' || !isCheckTool(tool));
  if (bad === undefined) return tools;
  const named = bad?.record?.name ?? 'One of them';
  throw wrong(
    `checkTools: ${named} is no read tool.`,
    "Make each with defineTool({effect: 'read', …}): a goal runs its checks by itself.",
  );
}

/** A goal that no worker of this configuration could work on is a mistake. */
function checkGoal(
  { name, definition }: DefinedGoal,
  { agents, tools, connectors }: Pick<Config, 'agents' | 'tools' | 'connectors'>,
): void {
  const unknown = [definition.agent, ...definition.handoffTo].find((agent) => !agents.has(agent));
  if (unknown !== undefined) {
    const hint = 'Add the agent to `agents`, or name another one in the goal.';
    throw wrong(`Goal ${name} names the agent ${unknown}, which is not there.`, hint);
  }
  for (const { name: check, tool } of definition.validation) {
    const found = [...tools.values()].filter(({ record }) => record.name === tool);
    if (found.some(isCheckTool)) continue;
    // The server says what its tool is when the goal is opened.
    const isServed = tool.startsWith(CONNECTOR_PREFIX) && connectors.has(connectorNameOf(tool));
    if (found.length === 0 && isServed) continue;
    const is = found.length === 0 ? 'which is not there' : 'which is no read tool';
    const hint = 'Give the check a read tool: `tool`, or one of the name in `checkTools`.';
    throw wrong(`Goal ${name}: its check ${check} names the tool ${tool}, ${is}.`, hint);
  }
}

/** A handoff to an agent that is not there would wait in vain. */
function checkHandoffs({ name, handoffTo }: Agent, agents: Config['agents']): void {
  const unknown = handoffTo.find(({ agent }) => !agents.has(agent));
  if (unknown === undefined) return;
  const hint = 'Add the agent to `agents`, or take it out of `handoffTo`.';
  throw wrong(`Agent ${name} hands over to ${unknown.agent}, which is not there.`, hint);
}

function checkUses(agents: readonly Agent[], connectors: ReadonlyMap<string, Connector>): void {
  for (const { name, mcp } of agents) {
    const unknown = mcp.find((used) => !connectors.has(connectorNameOf(used)));
    if (unknown === undefined) continue;
    const hint = 'Declare the connector in `mcp`, or name another one in the agent.';
    throw wrong(`Agent ${name} uses ${JSON.stringify(unknown)}, which no connector is.`, hint);
  }
}

function hooksByName(hooks: readonly Hook[]): ReadonlyMap<string, Hook> {
  const byName = new Map<string, Hook>();
  for (const hook of hooks) {
    if (typeof hook?.name !== 'string' || typeof hook.run !== 'function')
      throw wrong('One of the hooks is no hook.', 'Make each hook with defineHook({…}).');
    const other = byName.get(hook.name);
    if (other !== undefined && other !== hook) {
      const hint = 'Runs find a hook by its name: rename the changed one.';
      throw wrong(`Two different hooks are called ${hook.name}.`, hint);
    }
    byName.set(hook.name, hook);
  }
  return byName;
}

function wrong(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `The configuration cannot be used. ${what}`, { hint });
}

function speakersOfMessages({ endpoints = [] }: ConfigDefinition): readonly string[] {
  const own = endpoints.map(endpointOf).filter(({ protocol }) => protocol === 'messages');
  return ['anthropic', ...own.map(({ name }) => name)];
}
