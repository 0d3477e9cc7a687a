/** The agent of a case as a worker's configuration, and the start of its run. */
import type { MediaTaken } from '../../core/state/attachment.js';
import { attachmentsOf } from '../case-files.js';
import {
  defineAgent,
  defineConfig,
  type Agent,
  type Config,
  type Hook,
  type PolicyDeclaration,
  type Tool,
} from '../../authoring/index.js';
import { DEFAULT_BUDGET, type Budget } from '../../core/state/budget-fields.js';
import type { SubAgentDefinitions } from '../../authoring/sub-agents.js';
import type { SuperviseDeclaration } from '../../authoring/supervise.js';
import type { ModelRoute, Prices } from '../../core/state/model.js';
import { DEFAULT_SETTINGS, type Settings } from '../../core/state/settings.js';
import type { StartInput, Task } from '../../core/state/task.js';
import { CASE_AGENT, type CasePrice, type Fixture } from '../fixture.js';
import { connectorsOf, usedServers } from '../servers/config.js';

/** Name of the provider behind every model of a case. */
export const PROVIDER = 'case';
export const AGENT = CASE_AGENT;

const DEFAULT_MODEL = 'model';
const DEFAULT_WINDOW = 200_000;
const OUTPUT_TOKENS_MAX = 1_000_000;
const INSTRUCTIONS = 'Handle the case with the tools you are given.';
const USD = 1_000_000;
/** The longest duration that a setting may have. */
const YEAR_MS = 366 * 86_400_000;
const MANY = 100;

/** What the worker of a case runs. */
export interface CaseCode {
  /** All that anything in the case names. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly hooks: readonly Hook[];
  /** Models that the case does not know. */
  readonly routes?: readonly ModelRoute[];
  /** On top of what the case says. */
  readonly settings?: Partial<Settings>;
}

export function configOf(fixture: Fixture, code: CaseCode): Config {
  const { manifest, agents, handoffTo } = fixture;
  const others = [...agents];
  const started = subAgentsIn(fixture);
  return defineConfig({
    agents: [
      agentOf(fixture, code, {
        name: AGENT,
        tools: manifest,
        budget: fixture.budget,
        handoffTo,
        ...(fixture.supervisor !== undefined && { supervise: superviseOf(fixture) }),
        ...(started !== undefined && { agents: started }),
      }),
      ...others.map(([name, { tools = manifest, budget, handoffTo: to }]) =>
        agentOf(fixture, code, {
          name,
          tools,
          budget: { ...fixture.budget, ...budget },
          handoffTo: to,
        }),
      ),
    ],
    ...(fixture.servers.size > 0 && { mcp: connectorsOf(fixture) }),
    // What only checks of a goal run, no agent offers.
    retiredTools: [...code.tools.values()],
    routes: routesFor(fixture, code),
  });
}

/** Roles of the agent of the case; tools that it lacks, they lack as well. */
function subAgentsIn(fixture: Fixture): SubAgentDefinitions | undefined {
  const { agents, manifest } = fixture;
  const names = subAgentNames(fixture);
  if (names.length === 0) return undefined;
  return Object.fromEntries(
    names.map((name) => {
      const { tools, budget = {} } = agents.get(name) ?? {};
      const own = tools?.filter((tool) => manifest.includes(tool));
      return [
        name,
        {
          description: `Works on a part of the case as ${name}.`,
          prompt: INSTRUCTIONS,
          ...(own !== undefined && { tools: own }),
          budget: budgetOf({ budget }),
        },
      ];
    }),
  );
}

/** Of the agents of a case those that neither work cycles of a goal nor take a run over. */
export function subAgentNames({ goal, agents, handoffTo = [] }: Fixture): readonly string[] {
  if (goal !== undefined) return [];
  const all = [...handoffTo, ...[...agents.values()].flatMap((one) => one.handoffTo ?? [])];
  const targets = all.map((to) => (typeof to === 'string' ? to : to.agent));
  return [...agents.keys()].filter((name) => !targets.includes(name));
}

const SUPERVISOR = 'supervisor';

function superviseOf({ supervisor, settings }: Fixture): SuperviseDeclaration {
  const { says: _, name = SUPERVISOR, ...when } = supervisor!;
  const agent = defineAgent({
    name,
    model: settings.model ?? DEFAULT_MODEL,
    instructions: 'Look at the run of the case.',
  });
  return { agent, ...when };
}

interface CaseWorker {
  readonly supervise?: SuperviseDeclaration;
  readonly agents?: SubAgentDefinitions;
  readonly name: string;
  readonly tools: readonly string[];
  readonly budget: Fixture['budget'];
  readonly handoffTo: Fixture['handoffTo'] | undefined;
}

function agentOf(
  fixture: Fixture,
  { tools, hooks, settings = {} }: CaseCode,
  worker: CaseWorker,
): Agent {
  const { policy } = fixture;
  return defineAgent({
    name: worker.name,
    model: fixture.settings.model ?? DEFAULT_MODEL,
    instructions: instructionsOf(fixture, worker),
    ...(worker.handoffTo !== undefined && { handoffTo: worker.handoffTo }),
    tools: worker.tools.flatMap((name) => tools.get(name) ?? []),
    ...(fixture.servers.size > 0 && { mcp: usedServers(fixture, worker.tools) }),
    hooks,
    ...(policy.length > 0 && { policy: { rules: policy } as PolicyDeclaration }),
    budget: budgetOf(worker),
    ...(worker.agents !== undefined && { agents: worker.agents }),
    ...(worker.supervise !== undefined && { supervise: worker.supervise }),
    settings: { ...settingsOf(fixture), ...settings },
  });
}

/** By these the scripted model knows whom it plays. */
function instructionsOf({ goal, instructions }: Fixture, { name }: CaseWorker): string {
  if (name === AGENT) return instructions ?? INSTRUCTIONS;
  return goal !== undefined ? INSTRUCTIONS : `${INSTRUCTIONS}\n${PLAYED}${name}.`;
}

const PLAYED = 'You are the agent ';

/** Who asks, of those whom a run is handed over to; undefined: the agent of the case. */
export function playedAgent(system: string | undefined): string | undefined {
  const from = system?.indexOf(PLAYED) ?? -1;
  return from < 0 ? undefined : /^[\w.-]*\w/.exec(system!.slice(from + PLAYED.length))?.[0];
}

/** Unchecked: what is wrong with a task is for the runtime to say. */
export function startOf({ task }: Fixture): StartInput {
  const { sessionId: _, resume: __, continue: ___, attachments: files, ...own } = task;
  const attached = files && { attachments: attachmentsOf(files) };
  return { v: 1, agent: AGENT, task: { ...own, ...attached } as unknown as Task };
}

/** Limits that have no 'unlimited' get the most that they allow. */
const MOST: Partial<Budget> = {
  maxParallelToolCalls: MANY,
  maxToolResultChars: Number.MAX_SAFE_INTEGER,
  maxRetriesPerModelCall: 20,
  maxServerErrorRetries: 20,
  maxRetriesPerToolCall: 20,
  maxTokensPerResponse: OUTPUT_TOKENS_MAX,
  maxOutputRecoveries: MANY,
  emptyResponseRetries: MANY,
  maxReactiveCompactions: MANY,
  maxStopHookReentries: MANY,
  maxOutputSchemaRetries: MANY,
};

/** What the case says over an agent of a configuration. */
export function ownBudget(fixture: Fixture): Partial<Budget> {
  return budgetOf(fixture);
}

export function ownSettings(fixture: Fixture): Partial<Settings> {
  return settingsOf(fixture);
}

function budgetOf({ budget }: Pick<Fixture, 'budget'>): Partial<Budget> {
  const known = Object.entries(budget).filter(([name]) => name in DEFAULT_BUDGET);
  const fields = known.map(([name, value]) => [
    name,
    value === 'unlimited' ? (MOST[name as keyof Budget] ?? value) : value,
  ]);
  return Object.fromEntries(fields) as Partial<Budget>;
}

/** Waits that may be over at once; the runtime's shortest is a millisecond. */
const AT_ONCE = ['approvalTimeoutMs', 'inputTimeoutMs', 'idleTimeoutMs'] as const;

function settingsOf({ settings }: Fixture): Partial<Settings> {
  const known = Object.entries(settings).filter(([name]) => name in DEFAULT_SETTINGS);
  const fields = known.map(([name, value]) => [name, value === 'unlimited' ? YEAR_MS : value]);
  const { onToolFailure, permissionMode } = settings;
  return {
    ...(Object.fromEntries(fields) as Partial<Settings>),
    ...AT_ONCE.reduce((rest, name) => (settings[name] === 0 ? { ...rest, [name]: 1 } : rest), {}),
    // Whoever writes this mode down has unlocked it (G16); a change to it on the way has not.
    ...(permissionMode === 'bypassPermissions' && { allowBypassPermissions: true }),
    ...(onToolFailure !== undefined && {
      onToolFailure: { ...DEFAULT_SETTINGS.onToolFailure, ...withoutAbsent(onToolFailure) },
    }),
  };
}

function withoutAbsent<T extends object>(value: T): T {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries) as T;
}

/** A model that answers in earnest may be the recorded one: its own route counts. */
function routesFor(fixture: Fixture, { routes = [] }: CaseCode): readonly ModelRoute[] {
  const named = new Set(routes.map(({ name }) => name));
  return [...routes, ...routesOf(fixture).filter(({ name }) => !named.has(name))];
}

/** Every model that the case can get to; one without a price is not known, unless the case says what to do. */
function routesOf({ settings, during }: Fixture): readonly ModelRoute[] {
  const { model = DEFAULT_MODEL, fallbackModel, pricing } = settings;
  const named = during.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.kind === 'setModel' ? [action.model] : [])),
  );
  const names = new Set([model, ...named, ...[...pricing.keys()].filter((name) => name !== '*')]);
  if (fallbackModel !== undefined) names.add(fallbackModel);
  return [...names].flatMap((name): ModelRoute[] => {
    const prices = pricesFor(settings, name);
    if (prices === undefined) return [];
    const { takes } = settings;
    const route = routeOf(name, prices, windowFor(settings, name));
    return [takes === undefined ? route : { ...route, takes: takes as MediaTaken }];
  });
}

function routeOf(name: string, prices: Prices, contextWindow: number): ModelRoute {
  return {
    name,
    provider: PROVIDER,
    model: name,
    contextWindow,
    maxOutputTokens: OUTPUT_TOKENS_MAX,
    prices,
    pricesVersion: 'case',
    temperatureAllowed: true,
  };
}

function pricesFor(
  { pricing, unknownModelPricing }: Fixture['settings'],
  model: string,
): Prices | undefined {
  const own = pricing.get(model) ?? pricing.get('*');
  if (own !== undefined) return inMicroUsd(own);
  if (unknownModelPricing === 'zero') return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  if (unknownModelPricing === undefined || unknownModelPricing === 'fail') return undefined;
  return inMicroUsd(unknownModelPricing);
}

function inMicroUsd({ input, output, cacheRead, cacheWrite }: CasePrice): Prices {
  return {
    input: Math.round(input * USD),
    output: Math.round(output * USD),
    cacheRead: Math.round(cacheRead * USD),
    cacheWrite: Math.round(cacheWrite * USD),
  };
}

function windowFor({ contextWindow }: Fixture['settings'], model: string): number {
  if (typeof contextWindow === 'number') return contextWindow;
  return contextWindow?.[model] ?? DEFAULT_WINDOW;
}
