/**
 * What is fixed of a goal when it is opened, by the worker's configuration.
 * Invariant: what no cycle could ever work with is refused here, before anything is paid.
 */
import { dollars } from '../../core/money/dollars.js';
import type { Config } from '../../authoring/index.js';
import { wrongField } from '../../authoring/goal/field.js';
import type { NormalGoal } from '../../authoring/goal/normal-goal.js';
import { PREVIEW_CHARS } from '../../core/json/json.js';
import { boundMicroUsd } from '../../core/money/budget.js';
import {
  boundOfQuestion,
  QUESTION_BYTES_MIN,
  questionWithin,
} from '../../core/money/question-bound.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { DoneCondition } from '../../core/state/goal/definition.js';
import type {
  ConditionTerm,
  CycleTerms,
  GoalTerms,
  JudgeTerm,
} from '../../core/state/goal/terms.js';
import type { StartInput } from '../../core/state/task.js';
import { conditionsOf } from '../../pure/goal/conditions.js';
import { resolveRoute } from '../../providers/routes.js';
import { beginning } from '../run/append-items.js';
import { freeze } from '../run/freeze.js';
import { promptOf } from '../run/prompt.js';
import type { CheckQueues } from './frozen-checks.js';
import { limitsOf } from './prepare-cycle.js';

const ANSWER_TOKENS_MIN = 500;
const JUDGE_TOKENS = 2_000;
const JUDGE_TOKENS_MIN = 300;

export interface GoalPlace {
  /** Hash of the definition in the store. */
  readonly definition: string;
  /** Task queues of the tools of checks, by the names of the checks. */
  readonly queues?: CheckQueues;
}

/** Errors: InvalidTask that names the field, InvalidAgent. */
export function goalTerms(
  config: Config,
  goal: NormalGoal,
  { definition, queues = new Map() }: GoalPlace,
): GoalTerms {
  const frozen = frozenCycle(config, goal);
  const { reviewer } = goal;
  const { route, settings, policy } = frozen;
  return {
    definition,
    revision: 1,
    objective: beginning(goal.objective, PREVIEW_CHARS),
    agent: goal.agent,
    ...(goal.agentVersion === 'pinned' && { agentVersion: frozen.agent.version }),
    handoffTo: goal.handoffTo,
    done: {
      mode: 'all' in goal.done ? 'all' : 'any',
      conditions: conditionsOf(goal.done).map(conditionTerm),
    },
    checks: goal.validation.map(({ name, tool, timeoutMs, measure }) => ({
      name,
      tool,
      timeoutMs,
      ...(measure !== undefined && { better: measure.better }),
      ...(queues.has(name) && { queue: queues.get(name)! }),
    })),
    judges: Object.entries(goal.judges).map(([name, { model }]) =>
      judgeTerm(config, goal, { name, field: `judges.${name}.model`, model }),
    ),
    ...(reviewer !== undefined && {
      reviewer: {
        ...judgeTerm(config, goal, {
          name: 'reviewer',
          field: 'reviewer.model',
          model: reviewer.model,
        }),
        roles: reviewer.roles ?? [],
      },
    }),
    budget: limitsIn(goal),
    cycle: cycleTerms(goal, frozen),
    roundMicroUsd: goal.roundMicroUsd,
    briefTokens: goal.briefTokens,
    reviewEvery: goal.reviewEvery,
    pace: goal.pace,
    approval: goal.approval,
    stopRules: goal.stopRules,
    unavailableMs: goal.unavailableMs,
    closeMs: goal.closeMs,
    maxAskedPauseMs: goal.maxAskedPauseMs,
    requireProof: settings.requireProof,
    policyVersion: policy.version,
    versions: { ...frozen.versions, route: route.name, definition },
  };
}

function limitsIn({ budget }: NormalGoal): GoalTerms['budget'] {
  const { deadlineMs, maxModelCalls, maxToolCalls, maxInputTokens, maxOutputTokens } = budget;
  return {
    maxCostMicroUsd: budget.maxCostMicroUsd,
    hardMaxCostMicroUsd: budget.hardMaxCostMicroUsd,
    maxCycles: budget.maxCycles,
    deadlineMs: deadlineMs ?? 'unlimited',
    maxModelCalls: maxModelCalls ?? 'unlimited',
    maxToolCalls: maxToolCalls ?? 'unlimited',
    maxInputTokens: maxInputTokens ?? 'unlimited',
    maxOutputTokens: maxOutputTokens ?? 'unlimited',
    onBudget: budget.onBudget,
    budgetRoles: budget.budgetRoles,
  };
}

function conditionTerm(condition: DoneCondition): ConditionTerm {
  if ('check' in condition) return { kind: 'check', name: condition.check };
  if ('state' in condition) return { kind: 'state', path: condition.state };
  if ('plan' in condition) return { kind: 'plan' };
  if ('person' in condition) return { kind: 'person', ...condition.person };
  return { kind: 'judge', name: condition.judge, atLeast: condition.atLeast };
}

interface NamedModel {
  readonly name: string;
  readonly field: string;
  readonly model: string | undefined;
}

/** Of what is set aside for a pass; the rest pays for the question. */
const ANSWER_SHARE = 0.4;

/** An answer may be as long as its share of the round pays for. */
function judgeTerm(
  config: Config,
  goal: NormalGoal,
  { name, field, model }: NamedModel,
): JudgeTerm {
  const agent = config.agents.get(goal.agent);
  const route = routeOf(config, { field, model: model ?? agent?.model ?? '' });
  const most = Math.min(JUDGE_TOKENS, route.maxOutputTokens);
  const price = route.prices.output;
  const forAnswer = goal.roundMicroUsd * ANSWER_SHARE;
  const paid = price === 0 ? most : Math.floor((forAnswer * 1_000_000) / price);
  const term = { name, route, maxTokens: Math.max(JUDGE_TOKENS_MIN, Math.min(most, paid)) };
  if (questionWithin(term, goal.roundMicroUsd) === undefined) throw neverAsked(term, field);
  return term;
}

function neverAsked(term: JudgeTerm, field: string): HoldfastError {
  const { name, route, maxTokens } = term;
  const size = `${QUESTION_BYTES_MIN} bytes with ${maxTokens} tokens of answer`;
  if (route.contextWindow - maxTokens < QUESTION_BYTES_MIN)
    return wrongField('The goal', field, `a question of ${size} does not fit into ${route.name}`);
  const least = boundOfQuestion(term, QUESTION_BYTES_MIN).costMicroUsd;
  const why = `one question to ${name} of ${size} needs ${dollars(least)} (${least})`;
  return wrongField('The goal', 'roundMicroUsd', why);
}

function routeOf(
  config: Config,
  { field, model }: { readonly field: string; readonly model: string },
) {
  try {
    return resolveRoute(model, config);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'UnknownModel') throw error;
    throw wrongField('The goal', field, error.message);
  }
}

/** What a cycle of it would be frozen to; settings that no start may say are refused now. */
function frozenCycle(config: Config, goal: NormalGoal): Frozen {
  const start: StartInput = {
    v: 1,
    agent: goal.agent,
    task: { goal: goal.objective },
    ...limitsOf(goal),
    // Of the form of a cycle: it has the tools of goals.
    parent: { kind: 'goal', id: 'goal', n: 1, digest: 'none' },
  };
  const prompt = promptOf(config, start);
  const frozen = freeze(config, start, {
    prompt: { hash: '', bytes: prompt.bytes },
    schemas: new Map(),
    roles: new Map(),
  });
  const constraints = Buffer.byteLength(goal.constraints.join('\n'));
  const bytes = prompt.bytes + Buffer.byteLength(goal.objective) + constraints;
  const least = boundMicroUsd(bytes, ANSWER_TOKENS_MIN, frozen.route.prices);
  if (goal.cycle.maxCostMicroUsd < least) {
    const why = `one request with instructions, tools, objective and ${ANSWER_TOKENS_MIN} tokens of answer needs ${dollars(least)} (${least})`;
    throw wrongField('The goal', 'cycle.maxCostMicroUsd', why);
  }
  return frozen;
}

function cycleTerms(goal: NormalGoal, { budget }: Frozen): CycleTerms {
  const { maxModelCalls, maxToolCalls, maxInputTokens, maxOutputTokens } = budget;
  return {
    maxCostMicroUsd: goal.cycle.maxCostMicroUsd,
    minCostMicroUsd: goal.minCycleMicroUsd,
    maxModelCalls,
    maxToolCalls,
    maxInputTokens,
    maxOutputTokens,
  };
}
