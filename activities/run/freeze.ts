/**
 * What is fixed for the whole run, from the worker's configuration and the start.
 * Invariants: defaults < configuration < agent < start; of what an agent forbids or limits, a start may only add to it
 * (G102): tools that are not allowed are united, and of two limits the lower one counts.
 */
import { parseBudget, parseSettings } from '../../authoring/check-limits.js';
import { withTargets } from '../../authoring/handoff.js';
import { startedRole, withStarted } from '../../authoring/started-agents.js';
import { GOAL_TOOL_LIST } from '../../authoring/goal/goal-tools.js';
import {
  hookMatches,
  hookNames,
  type Agent,
  type Config,
  type Tool,
} from '../../authoring/index.js';
import { DEFAULT_BUDGET, type Budget, type Limit } from '../../core/state/budget-fields.js';
import { digestOf, ownValue, type Json, type StoredText } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { ModelRoute } from '../../core/state/model.js';
import { routeHash } from '../../core/step/route.js';
import { DEFAULT_SETTINGS, type Settings } from '../../core/state/settings.js';
import type { BudgetOverrides, SettingsOverrides } from '../../core/state/task.js';
import type { ToolOffer } from '../../core/state/transcript.js';
import { ANY_MONEY, resolveRouteFor } from '../../providers/routes.js';
import {
  boundedHooks,
  boundedSettings,
  boundedTools,
  treeOf,
  type OpeningStart,
} from './bounds.js';
import { checkProof } from './check-proof.js';
import { checkDone } from './check-task.js';
import { codeVersion } from './code-version.js';
import { usualTokens } from './usual-tokens.js';

const NAMES_SHOWN_MAX = 20;
/** Logical turns do not count recoveries and the like: without a word on it their calls still end (C3). */
const LOGICAL_MODEL_CALLS_MAX = 100;
/** Names of tools, the agent's and those of the start together. */
const DISALLOWED_MAX = 200;
const PLACE = { code: 'InvalidTask', subject: 'The start' } as const;

function agentOf(config: Config, name: string): Agent {
  const agent = config.agents.get(name);
  if (agent !== undefined) return agent;
  const known = [...config.agents.keys()].slice(0, NAMES_SHOWN_MAX);
  throw new HoldfastError('UnknownAgent', `There is no agent named ${JSON.stringify(name)}.`, {
    hint: `This worker knows ${known.join(', ')}.`,
    details: { known },
  });
}

/** The agent of a start, with what the start brings along, or the role that an earlier start brought. */
export function agentFor(
  config: Config,
  { agent: name, agents, role }: Pick<OpeningStart, 'agent' | 'agents' | 'role'>,
): Agent {
  if (role !== undefined) return startedRole(agentOf(config, role.of), role.name, role.definition);
  const agent = agentOf(config, name);
  if (agents === undefined || Object.keys(agents).length === 0) return agent;
  const whole = withStarted(agent, agents);
  // A model that nobody knows is told now, and not when the sub-agent is started.
  for (const { model } of whole.agents?.values() ?? []) {
    if (model !== undefined) resolveRouteFor(model, config, ANY_MONEY);
  }
  return whole;
}

export interface Prompt {
  readonly hash: string;
  readonly bytes: number;
}

/** What lies in the store for it. */
export interface Stored {
  readonly prompt: Prompt;
  /** JSON Schemas of the answers of its sub-agents, by their names. */
  readonly schemas: ReadonlyMap<string, StoredText>;
  /** Definitions of those that the start brings along, as JSON text. */
  readonly roles: ReadonlyMap<string, StoredText>;
  /** Tools of its connectors. */
  readonly served?: readonly Tool[];
}

export function freeze(
  config: Config,
  start: OpeningStart,
  { prompt, schemas, roles, served = [] }: Stored,
): Frozen {
  const agent = agentFor(config, start);
  const tools = [...toolsFor(agent, start), ...served].map((tool) => tool.record);
  const settings = settingsFor(config, start);
  const said = saidLimits(config, { agent, start });
  const money = { ...DEFAULT_BUDGET, ...said };
  const route = resolveRouteFor(start.model ?? agent.model, config, money);
  const { fallbackModel } = settings;
  const fallback =
    fallbackModel === null ? undefined : resolveRouteFor(fallbackModel, config, money);
  const budget = limitsFor(said, { settings, routes: fallback ? [route, fallback] : [route] });
  const { versions } = settings;
  const hooks = { hooks: hookNames(agent.hooks), hookMatches: hookMatches(agent.hooks) };
  const policy = { ...agent.policy, version: versions.policy ?? agent.policy.version };
  return {
    agent: { name: agent.name, version: agent.version },
    route,
    ...(fallback !== undefined && { fallback }),
    prompt,
    tools,
    policy,
    ...boundedHooks(hooks, start),
    ...(agent.handoffTo.length > 0 && { handoffTo: agent.handoffTo }),
    budget: budgetFor(route, budget),
    settings,
    ...treeOf(agent, start, { schemas, roles }),
    versions: {
      agent: agent.version,
      prompt: prompt.hash,
      tools: digestOf(tools as unknown as Json),
      modelRoute: routeHash(route),
      pricing: route.pricesVersion,
      ...(fallback !== undefined && { fallback: routeHash(fallback) }),
      code: codeVersion(),
      ...versions,
      policy: policy.version,
      // Whatever people call their own code: this is what ran it.
      runtime: codeVersion(),
    },
  };
}

function saidLimits(
  config: Config,
  { agent, start }: { agent: Agent; start: OpeningStart },
): BudgetOverrides {
  return {
    ...config.defaults.budget,
    ...agent.budget,
    ...withinLimits(agent.budget, parseBudget(start.budget, PLACE)),
  };
}

function limitsFor(
  said: BudgetOverrides,
  { settings, routes }: { settings: Settings; routes: readonly ModelRoute[] },
): Budget {
  return {
    ...DEFAULT_BUDGET,
    ...(settings.turnCounting === 'logical' && { maxModelCalls: LOGICAL_MODEL_CALLS_MAX }),
    ...usualTokens(said, routes),
    ...said,
  };
}

export function settingsFor(config: Config, start: OpeningStart): Settings {
  const wished = parseSettings(start.settings, PLACE);
  const given: Settings = {
    ...DEFAULT_SETTINGS,
    ...config.defaults.settings,
    ...agentFor(config, start).settings,
  };
  const whole = { ...given, ...wished, disallowedTools: disallowed(given, wished) };
  const settings = boundedSettings(whole, start);
  checkPermissionMode(settings);
  checkProof(given, wished);
  // A cycle ends when its work does: whether the goal is done is for the goal to say.
  if (start.parent === undefined) checkDone(start.task, { given, wished });
  checkWished(wished);
  return settings;
}

/** Nobody gets a mode silently that is not the one they asked for (G16). */
function checkPermissionMode({ permissionMode, allowBypassPermissions }: Settings): void {
  if (permissionMode !== 'bypassPermissions' || allowBypassPermissions) return;
  throw new HoldfastError('InvalidTask', 'bypassPermissions is not unlocked for this run.', {
    hint: 'Set allowBypassPermissions: true as well, or choose another permissionMode.',
  });
}

function checkWished({ versions, budgetRoles }: SettingsOverrides): void {
  if (budgetRoles !== undefined) {
    throw new HoldfastError('InvalidTask', 'A start may not say who allows it a larger budget.', {
      hint: 'Name budgetRoles in the settings of the agent or of the configuration.',
    });
  }
  if (versions === undefined) return;
  // A trace says what really ran: whoever starts a run cannot know that.
  throw new HoldfastError('InvalidTask', 'A start may not say which versions it runs.', {
    hint: 'Name versions in the settings of the agent or of the configuration.',
  });
}

function disallowed(given: Settings, wished: SettingsOverrides): readonly string[] {
  const all = [...new Set([...given.disallowedTools, ...(wished.disallowedTools ?? [])])];
  if (all.length <= DISALLOWED_MAX) return all;
  throw new HoldfastError('InvalidTask', `The run would disallow ${all.length} tools.`, {
    hint: `Name at most ${DISALLOWED_MAX} together with those of the agent; a name may end in *.`,
  });
}

/** What a start says of its budget, as far as the agent allows it. */
function withinLimits(limits: BudgetOverrides, wished: BudgetOverrides): BudgetOverrides {
  const kept = Object.entries(limits).filter(
    ([name, limit]) => name !== 'compactionThreshold' && isLower(limit, ownValue(wished, name)),
  );
  return { ...wished, ...Object.fromEntries(kept) };
}

function isLower(limit: Limit, wished: Limit | undefined): boolean {
  if (wished === undefined || limit === 'unlimited') return false;
  return wished === 'unlimited' || limit < wished;
}

/** No reply can be longer than the model allows, so none is reckoned with. */
function budgetFor(route: ModelRoute, budget: Budget): Budget {
  const maxTokensPerResponse = Math.min(budget.maxTokensPerResponse, route.maxOutputTokens);
  return { ...budget, maxTokensPerResponse };
}

/** The run works for a goal. */
export function isCycle({ parent }: Pick<OpeningStart, 'parent'>): boolean {
  return parent?.kind === 'goal';
}

/** The agent's own tools; in a cycle those of its goal as well, in a sub-agent only those that its parent has. */
export function toolsFor(agent: Agent, start: OpeningStart): readonly Tool[] {
  const tools = boundedTools(agent, withTargets(agent.tools, agent.handoffTo), start);
  return isCycle(start) ? [...tools, ...GOAL_TOOL_LIST] : tools;
}

/** What the model is told about tools, in their order. */
export function offersOf(tools: readonly Tool[]): readonly ToolOffer[] {
  return tools.map(({ record, description, inputSchema, hosted }) => ({
    name: record.name,
    version: record.version,
    wireName: record.wireName,
    description,
    inputSchema,
    ...(hosted !== undefined && { hosted }),
  }));
}
