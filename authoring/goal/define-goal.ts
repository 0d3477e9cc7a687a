/** defineGoal: what is wanted, when it is done and within what, under one name, checked. */
import type {
  CheckDefinition,
  CycleDefinition,
  GoalBudget,
  GoalDefinition,
} from '../../core/state/goal/definition.js';
import type { BudgetInUsd } from '../budget-in-usd.js';
import type { Agent } from '../define-agent.js';
import type { Tool } from '../tool.js';
import { NAME, NAME_HINT, wrongField } from './field.js';
import { normalGoal, type NormalGoal } from './normal-goal.js';
import { isRecord } from '../../pure/options.js';

/** A check as authors write it. */
export interface CheckDeclaration extends Omit<CheckDefinition, 'tool'> {
  /** A read tool, by its name or whole; default: the one that is named as the check. */
  readonly tool?: string | Tool;
}

/** Money in USD (`maxCostUsd: 2`), or as `maxCostMicroUsd`; one of the two. */
export type GoalBudgetDeclaration = Omit<GoalBudget, 'maxCostMicroUsd'> & {
  /** A person cannot raise the money above this; default the budget. */
  readonly hardMaxCostUsd?: number;
} & ({ readonly maxCostUsd: number } | { readonly maxCostMicroUsd: number });

/**
 * Money of budget and cycle is in USD (`maxCostUsd`), other money in micro-USD (`usd(2)`), time in ms (`hours(4)`, `days(30)`). Agents are named or given whole; the
 * configuration must have them. Each field with its default: docs/reference/goals.md.
 */
export interface GoalDeclaration extends Omit<
  GoalDefinition,
  'agent' | 'handoffTo' | 'validation' | 'budget' | 'cycle'
> {
  /** `holdfast goal start NAME` starts it. */
  readonly name: string;
  readonly agent: string | Agent;
  readonly handoffTo?: readonly (string | Agent)[];
  readonly validation?: readonly CheckDeclaration[];
  readonly budget: GoalBudgetDeclaration;
  /** Budget and settings of each cycle. */
  readonly cycle?: CycleDefinition & BudgetInUsd;
}

/** A checked goal. Made by `defineGoal`. */
export interface DefinedGoal {
  readonly name: string;
  /** With every default; plain JSON. */
  readonly definition: NormalGoal;
  /** Tools of its checks that were given whole: the worker serves them, and no model sees them. */
  readonly tools: readonly Tool[];
}

/** Errors: InvalidTask that names the field. */
export function defineGoal(declaration: GoalDeclaration): DefinedGoal {
  const given: unknown = declaration;
  if (!isRecord(given)) throw wrongField('The goal', 'the declaration', 'it must be an object');
  const { name, ...fields } = given;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw wrongField('The goal', 'name', NAME_HINT);
  }
  const subject = `Goal ${name}`;
  const tools = toolsOf(subject, fields.validation);
  const definition = normalGoal(withNames(fields), subject);
  return Object.freeze({ name, definition, tools: Object.freeze(tools) });
}

/** Whether a value came from {@link defineGoal}, perhaps of another copy of Holdfast. */
export function isDefinedGoal(value: unknown): value is DefinedGoal {
  if (!isRecord(value)) return false;
  const { name, definition, tools } = value;
  return typeof name === 'string' && isRecord(definition) && Array.isArray(tools);
}

function toolsOf(subject: string, validation: unknown): Tool[] {
  if (!Array.isArray(validation)) return [];
  return (validation as readonly unknown[]).flatMap((check, index) => {
    const tool = isRecord(check) ? check.tool : undefined;
    if (!isTool(tool)) return [];
    if (!isCheckTool(tool)) {
      const { name, effect } = tool.record;
      const why = `${name} is no read tool (its effect is '${effect}')`;
      throw wrongField(subject, `validation.${index}.tool`, why);
    }
    return [tool];
  });
}

/** A goal runs its checks by itself: they change nothing and ask nobody. */
export function isCheckTool({ record }: Pick<Tool, 'record'>): boolean {
  return record.effect === 'read' && (record.kind === 'tool' || record.kind === 'mcp');
}

function isTool(value: unknown): value is Tool {
  return isRecord(value) && isRecord(value.record) && typeof value.record.name === 'string';
}

/** Agents and tools that were given whole are named. */
function withNames(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { agent, handoffTo, validation } = fields;
  return {
    ...fields,
    agent: nameOf(agent),
    ...(Array.isArray(handoffTo) && { handoffTo: handoffTo.map(nameOf) }),
    ...(Array.isArray(validation) && {
      validation: validation.map((check: unknown) => {
        if (!isRecord(check) || !isTool(check.tool)) return check;
        return { ...check, tool: check.tool.record.name };
      }),
    }),
  };
}

function nameOf(agent: unknown): unknown {
  return isRecord(agent) && typeof agent.name === 'string' ? agent.name : agent;
}
