/**
 * What a sub-agent is left with: its own definition, cut by what its parent may do.
 * Invariant: nothing here adds; every field of the result is at most that of the agent and that of the parent.
 */
import { isMutating, toolKey } from '../../core/state/tool.js';
import { handoffTool } from '../../authoring/handoff.js';
import type { Agent, Tool } from '../../authoring/index.js';
import type { DeclaredSubAgent } from '../../authoring/agent.js';
import type { StoredText } from '../../core/json/json.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { HandedFrom } from '../../core/state/handoff.js';
import type { HookMatches, HookNames } from '../../core/state/hook.js';
import type { Settings } from '../../core/state/settings.js';
import type {
  Bounds,
  Lineage,
  SubAgent,
  SubAgents,
  TreeLimits,
} from '../../core/state/sub-agent.js';
import type { StartInput } from '../../core/state/task.js';
import type { StartedRole } from '../../pure/sub-agent-start.js';

/** A start as the store completes it; `bounds`: of a sub-agent. */
export interface OpeningStart extends StartInput {
  readonly bounds?: Bounds;
  /** Of a sub-agent that came with the start of its root. */
  readonly role?: StartedRole;
  /** Of a run that has its task from another run. */
  readonly handedFrom?: HandedFrom;
}

/** Generations between a run and its root. */
function depthOf(lineage: Lineage | undefined): number {
  return lineage === undefined ? 0 : lineage.path.length - 1;
}

/** Of the tree that a run begins or stands in. */
export function treeLimitsFor(agent: Agent, { bounds }: OpeningStart): TreeLimits | undefined {
  return bounds === undefined ? agent.agentLimits : bounds.lineage.limits;
}

/** Tools that start agents are left out where the tree may grow no deeper. */
export function boundedTools(
  agent: Agent,
  tools: readonly Tool[],
  start: OpeningStart,
): readonly Tool[] {
  const { bounds } = start;
  const limits = treeLimitsFor(agent, start);
  const mayDelegate = limits !== undefined && depthOf(bounds?.lineage) < limits.depth;
  return tools.filter(({ record }) => {
    // What it starts is bounded anew; the tools themselves do nothing.
    if (record.kind === 'subagent') return mayDelegate;
    // Whoever takes the run over is bounded as it is.
    if (record.kind === 'handoff' && record.schemaHash === handoffTool.record.schemaHash)
      return true;
    return bounds === undefined || bounds.tools.includes(toolKey(record));
  });
}

export function boundedSettings(settings: Settings, { bounds }: OpeningStart): Settings {
  if (bounds === undefined) return settings;
  const mayBypass = settings.allowBypassPermissions && bounds.allowBypassPermissions;
  const bypasses = settings.permissionMode === 'bypassPermissions';
  return {
    ...settings,
    disallowedTools: [...new Set([...settings.disallowedTools, ...bounds.disallowedTools])],
    allowBypassPermissions: mayBypass,
    ...(bypasses && !mayBypass && { permissionMode: 'default' }),
    requireProof: settings.requireProof || bounds.requireProof,
    // Its parent says what it is for and waits for one answer.
    afterAnswer: 'complete',
    interruptMode: 'stop',
    persistSession: false,
    requireDone: false,
  };
}

/** Hooks of ancestors have their say in each call, after its own: they judge the arguments that it is left with. */
export function boundedHooks(
  own: { readonly hooks: HookNames; readonly hookMatches?: HookMatches | undefined },
  { bounds }: OpeningStart,
): Pick<Frozen, 'hooks' | 'hookMatches'> {
  const after = bounds?.hooks ?? [];
  const first = (own.hooks.PreToolUse ?? []).filter((name) => !after.includes(name));
  const inherited = after.length > 0 && { PreToolUse: [...first, ...after] };
  const matches = { ...own.hookMatches, ...bounds?.hookMatches };
  return {
    hooks: { ...own.hooks, ...inherited },
    ...(Object.keys(matches).length > 0 && { hookMatches: matches }),
  };
}

/** What lies in the store of sub-agents, by their names. */
export interface SubAgentTexts {
  /** JSON Schemas of their answers. */
  readonly schemas: ReadonlyMap<string, StoredText>;
  /** Definitions of those that the start brings along. */
  readonly roles: ReadonlyMap<string, StoredText>;
}

/** The same fields of a run that is a sub-agent or may have some. */
export function treeOf(
  agent: Agent,
  start: OpeningStart,
  texts: SubAgentTexts,
): Pick<Frozen, 'agents' | 'treeLimits' | 'lineage' | 'within'> {
  const { bounds } = start;
  const limits = treeLimitsFor(agent, start);
  const mayDelegate = limits !== undefined && depthOf(bounds?.lineage) < limits.depth;
  return {
    ...(agent.agents !== undefined &&
      mayDelegate && { agents: frozenAgents(agent.agents, texts), treeLimits: limits }),
    ...(bounds !== undefined && { lineage: bounds.lineage, within: bounds.within }),
  };
}

function frozenAgents(
  agents: ReadonlyMap<string, DeclaredSubAgent>,
  { schemas, roles }: SubAgentTexts,
): SubAgents {
  return Object.fromEntries(
    [...agents].map(([name, declared]) => [
      name,
      frozenAgent(declared, { outputSchema: schemas.get(name), role: roles.get(name) }),
    ]),
  );
}

interface OwnTexts {
  readonly outputSchema: StoredText | undefined;
  readonly role: StoredText | undefined;
}

function frozenAgent(declared: DeclaredSubAgent, { outputSchema, role }: OwnTexts): SubAgent {
  const { agent, model, budget, settings, tools } = declared;
  const money = namedMoney(declared);
  return {
    agent: agent.name,
    version: agent.version,
    ...(model !== undefined && { model }),
    ...((Object.keys(budget).length > 0 || money !== undefined) && {
      budget: { ...budget, ...(money !== undefined && { maxCostMicroUsd: money }) },
    }),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(tools !== undefined && { tools }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(role !== undefined && { role }),
    parallel: declared.parallel ?? isReadOnly(declared),
  };
}

/** The lower one of what the declaration and the agent itself name. */
function namedMoney({ agent, budget }: DeclaredSubAgent): number | undefined {
  const named = [budget.maxCostMicroUsd, agent.budget.maxCostMicroUsd].filter(
    (limit): limit is number => typeof limit === 'number',
  );
  return named.length === 0 ? undefined : Math.min(...named);
}

function isReadOnly({ agent, tools }: DeclaredSubAgent): boolean {
  const left = agent.tools.filter(
    ({ record }) => tools === undefined || tools.includes(record.name),
  );
  const below = [...(agent.agents?.values() ?? [])];
  return left.every(({ record }) => !isMutating(record)) && below.every(isReadOnly);
}
