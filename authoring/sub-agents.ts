/**
 * The sub-agents that an agent declares, checked: named roles with a prompt of their own, or other agents (SA-02, G69).
 * Invariant: what is declared here only narrows what the agent itself may do; the runtime narrows again when one is started.
 */
import { z } from 'zod';
import { HoldfastError } from '../core/state/errors.js';
import { DEFAULT_TREE_LIMITS, type TreeLimits } from '../core/state/sub-agent.js';
import type { Limit } from '../core/state/budget-fields.js';
import type { SettingsOverrides } from '../core/state/task.js';
import type { Agent, DeclaredSubAgent } from './agent.js';
import { CONNECTOR_PREFIX, connectorNameOf } from './connectors.js';
import type { BudgetLimits } from './budget-in-usd.js';
import { parseBudget, parseSettings } from './check-limits.js';
import { handoffTool } from './handoff.js';
import { answerSchemaOf } from './output-schema.js';
import type { InputDeclaration } from './schema-forms.js';
import type { Tool } from './tool.js';
import { parseFields } from './parse-fields.js';
import { fieldsOf, isRecord, misfit, rules } from '../pure/options.js';

/** Sub-agents of one agent. */
const AGENTS_MAX = 20;
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,47}$/;
const DESCRIPTION_CHARS_MAX = 1_000;

/** A role with a prompt, or another agent; what is not said is as the agent that declares it has it. */
export interface SubAgentDefinition {
  /** For the model: what it is for, and when to use it. */
  readonly description: string;
  /** Its instructions. Either these or `agent`. */
  readonly prompt?: string;
  /** An agent of its own, defined with `defineAgent`. */
  readonly agent?: Agent;
  /** Names of the tools that it is left with, those of the declaring agent at most; default: all of them. */
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly model?: string;
  readonly maxTurns?: Limit;
  /** Named money is reserved in full before it starts, or it is not started. Default: its share of what is left. */
  readonly budget?: BudgetLimits;
  readonly settings?: SettingsOverrides;
  /** Its answer must be JSON that fits. */
  readonly outputSchema?: InputDeclaration;
  /** With `toolExecution: 'batched'` it runs beside others even where its tools may change something. Default: only if none may. */
  readonly parallel?: boolean;
}

export type SubAgentDefinitions = { readonly [name: string]: SubAgentDefinition };

/** What a sub-agent with a prompt has from the agent that declares it. */
export interface Declarer extends Pick<
  Agent,
  'name' | 'version' | 'model' | 'tools' | 'mcp' | 'hooks' | 'policy' | 'settings'
> {}

const limitsSchema = z
  .strictObject({
    depth: z.number().int().min(0).max(5),
    atOnce: z.number().int().min(1).max(50),
    inAll: z.number().int().min(0).max(1_000),
  })
  .partial();

export function treeLimitsOf(agent: string, declared: Partial<TreeLimits> | undefined): TreeLimits {
  const parsed = parseFields(limitsSchema, declared ?? {});
  if (parsed.success) return { ...DEFAULT_TREE_LIMITS, ...withoutAbsent(parsed.data) };
  const hint =
    'Give {depth: 0 to 5, atOnce: 1 to 50, inAll: 0 to 1000}; leave out what has its default.';
  throw wrong(agent, 'its agentLimits are not allowed', hint);
}

export function subAgentsOf(
  declarer: Declarer,
  definitions: SubAgentDefinitions | undefined,
): ReadonlyMap<string, DeclaredSubAgent> | undefined {
  if (definitions === undefined) return undefined;
  if (!isRecord(definitions)) {
    throw wrong(
      declarer.name,
      'its agents are no object',
      'Write agents: {auditor: {description, prompt}}.',
    );
  }
  const entries = Object.entries(definitions);
  if (entries.length > AGENTS_MAX) {
    const hint = `Name at most ${AGENTS_MAX}; a sub-agent may have sub-agents of its own.`;
    throw wrong(declarer.name, `it has ${entries.length} sub-agents`, hint);
  }
  if (entries.length === 0) return undefined;
  return new Map(entries.map(([name, one]) => [name, subAgentOf(declarer, name, one)]));
}

const FIELDS = [
  'description',
  'prompt',
  'agent',
  'tools',
  'disallowedTools',
  'model',
  'maxTurns',
  'budget',
  'settings',
  'outputSchema',
  'parallel',
] as const satisfies readonly (keyof SubAgentDefinition)[];

const KINDS = rules('text model, texts disallowedTools, flag parallel');

function subAgentOf(
  declarer: Declarer,
  name: string,
  definition: SubAgentDefinition,
): DeclaredSubAgent {
  const bad = (what: string, hint: string) =>
    wrong(`${declarer.name}, sub-agent ${name}`, what, hint);
  checkShape(name, definition, bad);
  const { description, model, outputSchema, parallel } = definition;
  const place = {
    code: 'InvalidAgent',
    subject: `Agent ${declarer.name}, sub-agent ${name}`,
  } as const;
  const tools = toolNamesOf(declarer, definition, bad);
  const disallowed = definition.disallowedTools ?? [];
  const settings = parseSettings(
    disallowed.length === 0
      ? definition.settings
      : withMore(definition.settings, {
          disallowedTools: [...(definition.settings?.disallowedTools ?? []), ...disallowed],
        }),
    place,
  );
  const budget = parseBudget(
    withMore(
      definition.budget,
      definition.maxTurns !== undefined && { maxTurns: definition.maxTurns },
    ),
    place,
  );
  const agent =
    definition.agent ?? roleOf(declarer, name, { ...definition, ...fieldsOf(definition), tools });
  return Object.freeze({
    description,
    agent,
    ...(model !== undefined && { model }),
    budget,
    settings,
    ...(tools !== undefined && { tools }),
    ...(outputSchema !== undefined && { outputSchema: answerSchemaOf(name, outputSchema) }),
    ...(parallel !== undefined && { parallel }),
  });
}

/** What is no object stays as it is, for whoever checks it. */
function withMore(given: object = {}, more: object | false = {}): unknown {
  return isRecord(given) ? { ...fieldsOf(given), ...more } : given;
}

type Bad = (what: string, hint: string) => HoldfastError;

function checkShape(name: string, definition: SubAgentDefinition, bad: Bad): void {
  if (!NAME.test(name)) {
    throw bad(
      'its name is not allowed',
      'Begin with a letter; use letters, digits, "_" and "-", 48 at most.',
    );
  }
  if (!isRecord(definition)) {
    throw bad('it is no object', 'Write {description, prompt} or {description, agent}.');
  }
  const unknown = Object.keys(definition).find((key) => !FIELDS.some((field) => field === key));
  if (unknown !== undefined)
    throw bad(`it has no field ${unknown}`, `The fields are ${FIELDS.join(', ')}.`);
  const unfit = misfit(fieldsOf(definition), KINDS);
  if (unfit !== undefined)
    throw bad(`its ${unfit.name} cannot be used`, `Give ${unfit.is}, or leave it out.`);
  const { description, prompt, agent } = definition;
  if (typeof description !== 'string' || description.trim() === '') {
    throw bad('its description is blank', 'Say what it is for: the model chooses by this.');
  }
  if (description.length > DESCRIPTION_CHARS_MAX) {
    throw bad(
      `its description has ${description.length} characters`,
      `Keep it below ${DESCRIPTION_CHARS_MAX}.`,
    );
  }
  if ((prompt === undefined) === (agent === undefined)) {
    throw bad(
      'it needs either a prompt or an agent',
      'Give prompt: its instructions, or agent: one made with defineAgent.',
    );
  }
  if (agent !== undefined && (typeof agent?.name !== 'string' || agent.policy === undefined)) {
    throw bad('its agent is no agent', 'Make it with defineAgent({…}).');
  }
  if (prompt !== undefined && (typeof prompt !== 'string' || prompt.trim() === '')) {
    throw bad('its prompt is blank', 'Say how it works.');
  }
}

function toolNamesOf(
  declarer: Declarer,
  { tools }: SubAgentDefinition,
  bad: Bad,
): readonly string[] | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools) || tools.some((tool) => typeof tool !== 'string')) {
    throw bad(
      'its tools are no names',
      "Name tools of the declaring agent: tools: ['read_order'].",
    );
  }
  const known = declarer.tools.map(({ record }) => record.name);
  const used = declarer.mcp.map(connectorNameOf);
  const unknown = (tools as readonly string[]).find(
    (tool) =>
      !known.includes(tool) && !(isOfConnector(tool) && used.includes(connectorNameOf(tool))),
  );
  if (unknown !== undefined) {
    const hint = `A sub-agent has no tool that agent ${declarer.name} lacks; add it there, or drop it.`;
    throw bad(`agent ${declarer.name} has no tool ${unknown}`, hint);
  }
  return [...new Set(tools as readonly string[])];
}

/** Which tools a connector has is known when a run is opened. */
function isOfConnector(tool: string): boolean {
  return tool.startsWith(CONNECTOR_PREFIX);
}

/** A role of the declaring agent: everything that it does not say is that agent's. */
function roleOf(
  { name: parent, version, model, tools, mcp, hooks, policy, settings }: Declarer,
  name: string,
  definition: SubAgentDefinition,
): Agent {
  const named = definition.tools;
  // A role answers its parent: nobody else takes its run over.
  const own: readonly Tool[] = tools.filter(
    (tool) => tool !== handoffTool && (named?.includes(tool.record.name) ?? true),
  );
  // A tool that stands in for one of a server is the declaring agent's own.
  const isServed = (tool: string): boolean =>
    isOfConnector(tool) && !own.some(({ record }) => record.name === tool);
  return Object.freeze({
    name: `${parent}/${name}`,
    version,
    model: definition.model ?? model,
    instructions: definition.prompt ?? '',
    tools: Object.freeze([...own]),
    mcp: named === undefined ? mcp : Object.freeze(named.filter(isServed)),
    hooks,
    handoffTo: [],
    policy,
    budget: {},
    settings,
  });
}

function withoutAbsent<T extends object>(value: T): { [Key in keyof T]: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [Key in keyof T]: NonNullable<T[Key]>;
  };
}

function wrong(agent: string, what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidAgent', `Agent ${agent}: ${what}.`, { hint });
}
