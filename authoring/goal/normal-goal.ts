/**
 * A definition of a goal with all its defaults, checked. Used where a goal is written, where it is started and where it
 * is opened, because a start comes from outside.
 * Invariants: normal twice is normal once; what passes is plain JSON; the first defect is named by its path. What only a
 * worker can judge is not here: whether agent, tools and models exist, and what a request costs.
 */
import { dollars } from '../../core/money/dollars.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../../core/json/json-depth.js';
import { fitsBytes, type Json } from '../../core/json/json.js';
import {
  DEFAULT_STOP_RULES,
  type CheckDefinition,
  type CycleDefinition,
  type GoalApproval,
  type GoalBudget,
  type GoalDefinition,
  type StopRules,
} from '../../core/state/goal/definition.js';
import { inMicroUsd } from '../budget-in-usd.js';
import { normalCycle } from './cycle.js';
import { wrongField } from './field.js';
import { goalSchema } from './goal-schema.js';
import { parseFields } from '../parse-fields.js';
import { isRecord } from '../../pure/options.js';

/** With every default of docs/reference/goals.md; what has none and was left out is absent. */
export type NormalGoal = Omit<Required<GoalDefinition>, 'reviewer' | 'validation' | 'budget'> & {
  readonly reviewer?: GoalDefinition['reviewer'];
  readonly validation: readonly (CheckDefinition & {
    readonly tool: string;
    readonly input: Json;
    readonly timeoutMs: number;
  })[];
  readonly budget: GoalBudget &
    Required<Pick<GoalBudget, 'maxCycles' | 'hardMaxCostMicroUsd' | 'onBudget' | 'budgetRoles'>>;
  readonly cycle: CycleDefinition & { readonly maxCostMicroUsd: number };
  readonly approval: readonly Required<GoalApproval>[];
  readonly stopRules: StopRules;
};

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 86_400_000;
const CONSTRAINTS_BYTES_MAX = 8_000;
const DEFINITION_BYTES_MAX = 128 * 1024;

/** Errors: InvalidTask that names the field. `subject` begins its message. */
export function normalGoal(definition: unknown, subject = 'The goal'): NormalGoal {
  const goal = shaped(definition, subject);
  const wrong = (field: string, why: string) => wrongField(subject, field, why);
  const { budget } = goal;
  const cycle = normalCycle(goal.cycle, { subject, goalMicroUsd: budget.maxCostMicroUsd });
  const judges = goal.judges ?? {};
  const asksModels = goal.reviewer !== undefined || Object.keys(judges).length > 0;
  const normal: NormalGoal = {
    ...goal,
    constraints: goal.constraints ?? [],
    handoffTo: goal.handoffTo ?? [],
    validation: (goal.validation ?? []).map(normalCheck),
    judges,
    budget: normalBudget(budget),
    cycle,
    minCycleMicroUsd: goal.minCycleMicroUsd ?? part(cycle.maxCostMicroUsd, 10),
    roundMicroUsd: goal.roundMicroUsd ?? (asksModels ? part(cycle.maxCostMicroUsd, 2) : 0),
    briefTokens: goal.briefTokens ?? 8_000,
    reviewEvery: goal.reviewEvery ?? { cycles: 1 },
    pace: goal.pace ?? 'continuous',
    approval: (goal.approval ?? []).map(normalApproval),
    stopRules: { ...DEFAULT_STOP_RULES, ...goal.stopRules },
    agentVersion: goal.agentVersion ?? 'latest',
    unavailableMs: goal.unavailableMs ?? WEEK_MS,
    closeMs: goal.closeMs ?? 10 * MINUTE_MS,
    maxAskedPauseMs: goal.maxAskedPauseMs ?? WEEK_MS,
  };
  checkNames(normal, wrong);
  checkMoney(normal, wrong);
  return withReviewer(normal, wrong);
}

type Wrong = (field: string, why: string) => Error;

function shaped(definition: unknown, subject: string): GoalDefinition {
  // Before anything walks it: deep values overflow the stack of whoever serialises them.
  if (depthOf(definition) > SHAPE_DEPTH_MAX) {
    throw wrongField(subject, 'the definition', 'it nests too deeply');
  }
  if (isRecord(definition) && !fits(definition)) {
    const why = `it must be JSON of at most ${DEFINITION_BYTES_MAX} bytes`;
    throw wrongField(subject, 'the definition', why);
  }
  const result = parseFields(goalSchema, withMicroUsd(definition, subject));
  if (result.success) return withoutAbsent(result.data) as unknown as GoalDefinition;
  // A misspelt field explains the one that is missing.
  const { issues } = result.error;
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const field = (issue?.path ?? []).join('.');
  const inUsd = inUsdAs(definition, field);
  if (inUsd !== undefined) throw wrongField(subject, inUsd, 'it must be an amount above 0');
  throw wrongField(subject, field === '' ? 'the definition' : field, issue?.message ?? 'not valid');
}

/** Money of the goal and of its cycles, in whichever unit it was written. */
function withMicroUsd(definition: unknown, subject: string): unknown {
  if (!isRecord(definition)) return definition;
  const inMicro = (field: 'budget' | 'cycle'): object => {
    if (definition[field] === undefined) return {};
    const wrong = (name: string, why: string) => wrongField(subject, `${field}.${name}`, why);
    return { [field]: inMicroUsd(definition[field], wrong) };
  };
  return { ...definition, ...inMicro('budget'), ...inMicro('cycle') };
}

/** The field of this budget that says the limit in USD; undefined: it was written as it is named. */
function inUsdAs(definition: unknown, field: string): string | undefined {
  const [, name = ''] = field.split('.');
  const inUsd = name.replace(/MicroUsd$/, 'Usd');
  const budget = isRecord(definition) && field === `budget.${name}` && definition.budget;
  return inUsd !== name && isRecord(budget) && budget[inUsd] !== undefined
    ? `budget.${inUsd}`
    : undefined;
}

function fits(definition: object): boolean {
  try {
    return fitsBytes(definition, DEFINITION_BYTES_MAX);
  } catch {
    // A value that JSON does not know; its field is named later.
    return true;
  }
}

/** A tenth, a half; never nothing. */
function part(microUsd: number, of: number): number {
  return Math.max(1, Math.floor(microUsd / of));
}

function normalCheck(check: CheckDefinition): NormalGoal['validation'][number] {
  const { name, tool = name, input = {}, timeoutMs = MINUTE_MS } = check;
  return { ...check, tool, input, timeoutMs };
}

function normalBudget(budget: GoalBudget): NormalGoal['budget'] {
  const { maxCycles = 100, hardMaxCostMicroUsd = budget.maxCostMicroUsd } = budget;
  const { onBudget = 'stop', budgetRoles = [] } = budget;
  return { ...budget, maxCycles, hardMaxCostMicroUsd, onBudget, budgetRoles };
}

function normalApproval(approval: GoalApproval): Required<GoalApproval> {
  return { quorum: 1, expiresInMs: WEEK_MS, onExpiry: 'stop', ...approval };
}

function checkNames(goal: NormalGoal, wrong: Wrong): void {
  if (!fitsBytes(goal.constraints, CONSTRAINTS_BYTES_MAX)) {
    throw wrong('constraints', `together they take more than ${CONSTRAINTS_BYTES_MAX} bytes`);
  }
  checkOnce(goal.validation, { field: 'validation', key: 'name', wrong });
  checkOnce(goal.approval, { field: 'approval', key: 'before', wrong });
  const checks = goal.validation.map(({ name }) => name);
  const judges = Object.keys(goal.judges);
  const [mode, conditions] =
    'all' in goal.done ? (['all', goal.done.all] as const) : (['any', goal.done.any] as const);
  for (const [index, condition] of conditions.entries()) {
    const field = `done.${mode}.${index}`;
    if ('check' in condition && !checks.includes(condition.check)) {
      const why = `validation has no check ${condition.check}; ${known(checks)}`;
      throw wrong(`${field}.check`, why);
    }
    if ('judge' in condition && !judges.includes(condition.judge)) {
      throw wrong(`${field}.judge`, `judges has no ${condition.judge}; ${known(judges)}`);
    }
  }
}

function known(names: readonly string[]): string {
  return names.length === 0 ? 'there is none' : `there is ${names.join(', ')}`;
}

interface List {
  readonly field: string;
  readonly key: string;
  readonly wrong: Wrong;
}

function checkOnce(list: readonly object[], { field, key, wrong }: List): void {
  const seen = new Set<unknown>();
  for (const [index, entry] of list.entries()) {
    const value = (entry as Readonly<Record<string, unknown>>)[key];
    if (seen.has(value)) {
      throw wrong(`${field}.${index}.${key}`, `${String(value)} stands there twice`);
    }
    seen.add(value);
  }
}

/** A goal that could never start a cycle is a mistake. */
function checkMoney(goal: NormalGoal, wrong: Wrong): void {
  const { budget, cycle, minCycleMicroUsd: least, roundMicroUsd: round } = goal;
  const { maxCostMicroUsd: money, hardMaxCostMicroUsd: hard } = budget;
  if (hard < money) {
    throw wrong(
      'budget.hardMaxCostMicroUsd',
      `it is below budget.maxCostMicroUsd, ${dollars(money)} (${money})`,
    );
  }
  if (least > cycle.maxCostMicroUsd) {
    const why = `it is above what a cycle may cost, ${dollars(cycle.maxCostMicroUsd)} (${cycle.maxCostMicroUsd})`;
    throw wrong('minCycleMicroUsd', why);
  }
  if (least + round > money) {
    const why = `a cycle needs ${dollars(least)} (minCycleMicroUsd ${least}) and its round ${dollars(round)} (roundMicroUsd ${round})`;
    throw wrong('budget.maxCostMicroUsd', why);
  }
}

/** When the reviewer wants a person's word, somebody must be there to give it. */
function withReviewer(goal: NormalGoal, wrong: Wrong): NormalGoal {
  const { reviewer, approval } = goal;
  if (reviewer === undefined) return goal;
  const roles = reviewer.roles ?? approval.find(({ before }) => before === 'every_cycle')?.roles;
  if (roles === undefined) {
    throw wrong(
      'reviewer.roles',
      "it must name who answers when the reviewer asks for an approval, unless approval has 'every_cycle'",
    );
  }
  return { ...goal, reviewer: { ...reviewer, roles } };
}

/** A field that is present but undefined is absent, at any depth. */
function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAbsent);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => [key, withoutAbsent(field)]),
  );
}
