/** defineAgent: a model, its instructions and its tools under one name, checked. */
import { HoldfastError } from '../core/state/errors.js';
import { GOAL_TOOLS as RESERVED } from '../core/state/goal/proposal.js';
import { AGENT_TOOL, type TreeLimits } from '../core/state/sub-agent.js';
import type { SettingsOverrides } from '../core/state/task.js';
import type { Agent, DeclaredSubAgent } from './agent.js';
import { seedOf, type AgentSandbox } from './agent-sandbox.js';
import { agent as startAgent } from './agent-tool.js';
import { CONNECTOR_PREFIX } from './connectors.js';
import { checkedHooks, type Hook } from './hook.js';
import { handoffTargets, handoffTool, type HandoffDeclaration } from './handoff.js';
import type { BudgetLimits } from './budget-in-usd.js';
import { parseBudget, parseSettings } from './check-limits.js';
import { AGENT_FIELDS, type Whole } from './field-places.js';
import { shown } from './known-fields.js';
import { checkDefinition, fieldDefect } from './whole-definition.js';
import { policyOf, type PolicyDeclaration } from './policy.js';
import { subAgentsOf, treeLimitsOf, type SubAgentDefinitions } from './sub-agents.js';
import { supervisorOf, type SuperviseDeclaration } from './supervise.js';
import { checkedGate, type TaskGate } from './task-gate.js';
import type { Tool } from './tool.js';

const TOOLS_MAX = 100;
const INSTRUCTIONS_BYTES_MAX = 256 * 1024;
const USES_MAX = 100;
const USE = /^[A-Za-z0-9_-]{1,64}\*?$/;
const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;
const VERSION = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,31}$/;

/** What an agent is: its model, instructions, tools and limits. A run freezes it when it begins. */
export interface AgentDefinition {
  readonly name: string;
  /** Default '1'. */
  readonly version?: string;
  /** A model the worker knows, or `provider/model`. */
  readonly model: string;
  readonly instructions: string;
  readonly tools?: readonly Tool[];
  /** Connectors that it uses (`crm`), or single tools of them (`mcp__crm__get_contact`, `mcp__crm__get_*`). */
  readonly mcp?: readonly string[];
  /** Code of the worker that is asked along the way; those of one point in this order. */
  readonly hooks?: readonly Hook[];
  /** Refuses tasks before the first model call; asked after that of the configuration. */
  readonly refuseTask?: TaskGate;
  /** Agents to which its model may hand a run over by the tool `handoff`; default: to none. */
  readonly handoffTo?: readonly HandoffDeclaration[];
  readonly policy?: PolicyDeclaration;
  readonly budget?: BudgetLimits;
  readonly settings?: SettingsOverrides;
  /** Sub-agents by the name that its model uses: the tool `agent {name, prompt}` starts them. */
  readonly agents?: SubAgentDefinitions;
  /** Limits of the tree of runs that begins with it; default: depth 2, 4 at once, 50 in all. */
  readonly agentLimits?: Partial<TreeLimits>;
  /** Of calls in a sandbox: the folder that a run begins with. */
  readonly sandbox?: AgentSandbox;
  /** Another agent that looks at each run from time to time. */
  readonly supervise?: SuperviseDeclaration;
}

const FIELDS: Whole<AgentDefinition, typeof AGENT_FIELDS> = AGENT_FIELDS;

export type { Agent } from './agent.js';

/**
 * Makes an agent of a model, instructions, tools and a budget, for `defineConfig({ agents })` and `testAgent`. Errors:
 * InvalidAgent, which names the field.
 */
export function defineAgent(definition: AgentDefinition): Agent {
  checkDefinition('defineAgent({ … })', definition, 'InvalidAgent');
  const { name, version = '1', model, instructions } = definition;
  checkTexts({ ...definition, version });
  const defect = fieldDefect(definition, FIELDS);
  if (defect !== undefined) throw wrong(name, defect.what, defect.hint);
  const handoffTo = handoffTargets(name, definition.handoffTo);
  const tools = listOf(name, 'tools', definition.tools);
  const own = [...tools, ...(handoffTo.length === 0 ? [] : [handoffTool])];
  checkTools(name, own);
  const place = { code: 'InvalidAgent', subject: `Agent ${name}` } as const;
  const refuseTask = checkedGate(definition.refuseTask, place);
  const plain = {
    name,
    version,
    model,
    instructions,
    tools: own,
    handoffTo,
    mcp: usesOf(name, definition.mcp ?? []),
    hooks: checkedHooks(name, listOf(name, 'hooks', definition.hooks)),
    policy: policyOf(name, definition.policy),
    budget: parseBudget(definition.budget, place),
    settings: parseSettings(definition.settings, place),
  };
  const named = subAgentsOf(plain, definition.agents);
  const mine = own.find((tool) => tool.record.name === AGENT_TOOL);
  if (named !== undefined && mine !== undefined && mine.record.kind !== 'subagent') {
    const hint = 'Drop or rename it: an agent with sub-agents has a tool of this name by itself.';
    throw wrong(name, `the name of its tool ${AGENT_TOOL} is reserved`, hint);
  }
  const starting = asTools(name, own);
  const clash = starting.find(([starts]) => named?.has(starts));
  if (clash !== undefined) {
    const hint = 'Rename one of the two: give agentTool a `name`, or the sub-agent another key.';
    throw wrong(name, `a sub-agent and one of its tools are both named ${clash[0]}`, hint);
  }
  const agents = new Map([...(named ?? []), ...starting]);
  const seed = seedOf(name, definition.sandbox);
  const supervisor = supervisorOf(name, definition.supervise);
  const agentLimits = treeLimitsOf(name, definition.agentLimits);
  return Object.freeze({
    ...plain,
    tools: Object.freeze(
      named === undefined || mine !== undefined ? [...own] : [...own, startAgent],
    ),
    ...(refuseTask !== undefined && { refuseTask }),
    ...(agents.size > 0 && { agents, agentLimits }),
    ...(supervisor !== undefined && { supervisor }),
    ...(seed !== undefined && { seed }),
  });
}

/** Agents that are tools, by the name of the tool. */
function asTools(agent: string, tools: readonly Tool[]): readonly [string, DeclaredSubAgent][] {
  return tools.flatMap(({ record, description, starts }): [string, DeclaredSubAgent][] => {
    if (starts === undefined) return [];
    const started = starts.agent as Agent;
    if (started.name === agent) {
      throw wrong(agent, `its tool ${record.name} starts itself`, 'Name another agent.');
    }
    return [[record.name, { description, agent: started, budget: {}, settings: {} }]];
  });
}

function checkTexts({ name, version, model, instructions }: AgentDefinition): void {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw wrong(String(name), 'its name is not allowed', NAME_HINT);
  }
  if (typeof version !== 'string' || !VERSION.test(version)) {
    throw wrong(name, `its version is ${shown(version)}`, "Give the agent a version, such as '1'.");
  }
  if (typeof model !== 'string' || model.trim() === '') {
    throw wrong(name, 'it names no model', "Name a model, such as model: 'anthropic/…'.");
  }
  if (typeof instructions !== 'string' || instructions.trim() === '') {
    throw wrong(name, 'its instructions are blank', 'Say what the agent is for and how it works.');
  }
  const bytes = Buffer.byteLength(instructions);
  if (bytes > INSTRUCTIONS_BYTES_MAX) {
    const hint = `Keep the instructions below ${INSTRUCTIONS_BYTES_MAX} bytes; give long material by tools.`;
    throw wrong(name, `its instructions take ${bytes} bytes`, hint);
  }
}

function listOf<T>(agent: string, field: string, given: readonly T[] = []): readonly T[] {
  if (Array.isArray(given)) return given;
  throw wrong(agent, `its ${field} are no list`, `Write ${field}: [one, another].`);
}

function checkTools(agent: string, tools: readonly Tool[]): void {
  if (tools.length > TOOLS_MAX) {
    const hint = `Offer at most ${TOOLS_MAX} tools; split the work over several agents.`;
    throw wrong(agent, `it has ${tools.length} tools`, hint);
  }
  const byWireName = new Map<string, string>();
  for (const tool of tools) {
    if (typeof tool?.record?.name !== 'string') {
      throw wrong(agent, 'one of its tools is no tool', 'Make each tool with defineTool({…}).');
    }
    const { name, wireName } = tool.record;
    if (wireName.startsWith(CONNECTOR_PREFIX) && tool.record.kind !== 'mcp') {
      const hint = 'Rename it, or name the connector in `mcp`.';
      throw wrong(agent, `the name of its tool ${name} is one of a connector`, hint);
    }
    if (RESERVED.some((reserved) => reserved === wireName)) {
      const hint = `Rename it: goals give their cycles tools named ${RESERVED.join(', ')}.`;
      throw wrong(agent, `the name of its tool ${name} is reserved`, hint);
    }
    const other = byWireName.get(wireName);
    if (other === name) {
      throw wrong(
        agent,
        `it has two tools named ${name}`,
        'Rename one of the two tools, or drop one.',
      );
    }
    if (other !== undefined) {
      const hint = `Both names reach the model as ${wireName}; rename one of the two tools.`;
      throw wrong(agent, `the model cannot tell tools ${other} and ${name} apart`, hint);
    }
    byWireName.set(wireName, name);
  }
}

function usesOf(agent: string, uses: readonly string[]): readonly string[] {
  const fits = Array.isArray(uses) && uses.length <= USES_MAX;
  if (fits && (uses as readonly unknown[]).every((one) => typeof one === 'string' && USE.test(one)))
    return Object.freeze([...uses]);
  const hint = `Name at most ${USES_MAX} connectors, 'crm', or tools of them, 'mcp__crm__get_contact'.`;
  throw wrong(agent, 'its mcp is no list of connectors and their tools', hint);
}

const NAME_HINT = 'Begin with a letter; use letters, digits, ".", "_" and "-", 64 at most.';

function wrong(agent: string, what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidAgent', `Agent ${agent.slice(0, 200)}: ${what}.`, { hint });
}
