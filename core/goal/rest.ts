/**
 * What a goal does between a pass and its next cycle: the row that ends it, the word of people, handoffs, approvals,
 * sleep, and the start.
 * Invariants: nothing of it happens while a pass or a cycle is open; a row is looked at behind each pass and before each
 * start, never in a sleep.
 */
import type { EndingRow, OpenGoal } from '../state/goal/goal.js';
import type { GoalBudgetField } from '../state/goal/terms.js';
import type { Step } from '../state/run.js';
import type { Ruling } from '../step/advance.js';
import { follows } from '../step/changes.js';
import { only } from '../step/inflight.js';
import { withoutProposed } from './answers.js';
import { dollars } from '../money/dollars.js';
import { openGoalAsk, withdrawGoalAsks } from './asks.js';
import { isDone, personsToAsk, restHolds } from './conditions.js';
import { beginCycle } from './cycle.js';
import { end } from './ending.js';
import { nextSlice } from './money.js';
import { isResting, pendingFor, pendingOf } from './pending.js';
import { beginPass } from './pass.js';
import { UNKNOWNS_MAX } from './review.js';
import { firstRow, isLate, usedUp } from './rows.js';

/** Rule: the row that ends the goal, unless a person may lift it or their word is needed first. */
export function endByRow(goal: OpenGoal): Ruling<OpenGoal> {
  const { passed, ...looked } = goal;
  if (!isResting(goal)) return undefined;
  const refused = refusedDoubt(goal);
  if (refused !== undefined) return only(end(goal, refused));
  if (pendingOf(goal).some(isNoCycle(goal))) return undefined;
  if (isAsleep(goal) && passed === undefined) return undefined;
  const row = firstRow(goal);
  if (row === undefined)
    return passed === undefined ? undefined : only(withoutProposed(looked, 'declined'));
  // (g9) The question about an effect in doubt comes first (askInDoubt).
  if (row.reason === 'completed' && goal.streaks.doubt > 0) return undefined;
  if (isLate(row) && mayAskAlone(goal)) return askPersons(goal);
  return lifted(goal, row) ?? only(end(goal, row));
}

/** A person would not clear an effect in doubt: no other answer is waited for. */
function refusedDoubt(goal: OpenGoal): EndingRow | undefined {
  const isRefused = goal.streaks.doubt > 0 && goal.proposed.approvalRow !== undefined;
  return isRefused && follows(goal, 'clearedDoubts') ? firstRow(goal) : undefined;
}

function isAsleep({ sleep, paused }: OpenGoal): boolean {
  return (sleep !== undefined && sleep.over !== true) || paused !== undefined;
}

/** Any question but that of a cycle's approval, which a row makes pointless. */
function isNoCycle(goal: OpenGoal) {
  return ({ id }: { readonly id: string }): boolean => goal.purposes[id]?.kind !== 'cycle';
}

/** In `any`, or as the only condition, people are asked at the end, and when a cycle proposes that the goal is done. */
function mayAskAlone(goal: OpenGoal): boolean {
  const { mode, conditions } = goal.terms.done;
  const alone = conditions.every(({ kind }) => kind === 'person');
  return (mode === 'any' || alone) && personsToAsk(goal).length > 0;
}

/** A question to a person about the row; undefined: nobody is asked, or has declined. */
function lifted(goal: OpenGoal, row: EndingRow): Step<OpenGoal> | undefined {
  if (goal.proposed.declined) return undefined;
  const { stopRules, budget } = goal.terms;
  const { row: name } = row;
  const stuck = name === 'blocked' || name === 'failed' || name === 'no_progress';
  if (stuck && stopRules.onStuck === 'ask') {
    return openGoalAsk(goal, {
      purpose: { kind: 'stuck', row: name },
      question: `The goal is stuck (${row.detail ?? name}). Go on with more cycles?`,
      args: { row: name },
      roles: [],
    });
  }
  const field = FIELDS[row.detail ?? ''] ?? FIELDS[row.reason];
  if (field === undefined || budget.onBudget !== 'ask') return undefined;
  const amount = amountOf(goal, field);
  if (amount <= 0) return undefined;
  return openGoalAsk(goal, {
    purpose: { kind: 'budget', field, amount },
    question: `${field} of the goal is used up. Allow ${amountText(field, amount)} more?`,
    args: { field, amount },
    roles: budget.budgetRoles,
  });
}

function amountText(field: GoalBudgetField, amount: number): string {
  return field === 'maxCostMicroUsd' ? dollars(amount) : String(amount);
}

const FIELDS: { readonly [name: string]: GoalBudgetField } = {
  max_cost: 'maxCostMicroUsd',
  max_cycles: 'maxCycles',
  max_model_calls: 'maxModelCalls',
  max_tool_calls: 'maxToolCalls',
  max_input_tokens: 'maxInputTokens',
  max_output_tokens: 'maxOutputTokens',
};

/** As much again as the goal began with, at most up to the hard limit of money. */
function amountOf(goal: OpenGoal, field: GoalBudgetField): number {
  const { budget } = goal.terms;
  const limit = budget[field];
  if (limit === 'unlimited') return 0;
  if (field !== 'maxCostMicroUsd') return Math.max(1, limit);
  // Money that a person cannot allow is not asked for.
  return Math.min(limit, budget.hardMaxCostMicroUsd - limit);
}

/** Rule: people are asked when everything else of `all` holds, or when a cycle proposes that the goal is done. */
export function askForWord(goal: OpenGoal): Ruling<OpenGoal> {
  if (!isResting(goal) || (isAsleep(goal) && !isPausedBehindPass(goal))) return undefined;
  const open = personsToAsk(goal).filter((condition) => !isAsked(goal, condition));
  const proposed = goal.proposed.done === true && mayAskAlone(goal);
  if (open.length > 0 && (restHolds(goal) || proposed)) return askPersons(goal);
  return goal.proposed.done === undefined ? undefined : only(withoutProposed(goal, 'done'));
}

/** A pause lets a pass end, and its question to people is a part of it. */
function isPausedBehindPass(goal: OpenGoal): boolean {
  return goal.sleep === undefined && follows(goal, 'askedWhilePaused');
}

function isAsked(goal: OpenGoal, condition: number): boolean {
  return pendingOf(goal).some(({ id }) => {
    const purpose = goal.purposes[id];
    return purpose?.kind === 'person' && purpose.condition === condition;
  });
}

function askPersons(goal: OpenGoal): Step<OpenGoal> {
  const open = personsToAsk(goal).filter((condition) => !isAsked(goal, condition));
  return open.reduce<Step<OpenGoal>>(
    (step, condition) => {
      const term = goal.terms.done.conditions[condition]!;
      if (term.kind !== 'person') return step;
      const asked = openGoalAsk(step.run, {
        purpose: { kind: 'person', condition },
        question: term.question,
        args: { condition, objective: goal.terms.objective },
        roles: term.roles,
      });
      return { run: asked.run, effects: [...step.effects, ...asked.effects] };
    },
    only(withoutProposed(goal, 'done')),
  );
}

/** Rule: a judge or the reviewer that answers nothing valid, and effects in doubt, are questions to a person. */
export function askInDoubt(goal: OpenGoal): Ruling<OpenGoal> {
  if (!isResting(goal)) return undefined;
  const who = Object.keys(goal.unknowns).find((name) => goal.unknowns[name]! >= UNKNOWNS_MAX);
  if (who !== undefined && pendingFor(goal, 'unknown') === undefined) {
    return openGoalAsk(goal, {
      purpose: { kind: 'unknown', who },
      question: `${who} gave no valid answer ${UNKNOWNS_MAX} times. Answer in its place: is the ${who === 'reviewer' ? 'objective still valid' : 'rubric met'}?`,
      args: { who },
      roles: goal.terms.reviewer?.roles ?? [],
    });
  }
  if (goal.streaks.doubt === 0 || pendingFor(goal, 'doubt') !== undefined) return undefined;
  return openGoalAsk(goal, {
    purpose: { kind: 'doubt' },
    question: `The end of ${goal.streaks.doubt} effects of cycle ${goal.cycles} is unknown. Were these effects looked into?`,
    args: { cycle: goal.cycles, effects: goal.streaks.doubt },
    roles: [],
  });
}

/** Rule: nothing goes on while people are asked about anything but the next cycle. */
export function awaitPeople(goal: OpenGoal): Ruling<OpenGoal> {
  if (!isResting(goal)) return undefined;
  return pendingOf(goal).some(isNoCycle(goal)) ? 'hold' : undefined;
}

/** Rule: a wanted review begins a pass. */
export function wantedReview(goal: OpenGoal): Ruling<OpenGoal> {
  return isResting(goal) && goal.reviewAsked ? only(beginPass(goal, 'review')) : undefined;
}

/** What a person has settled otherwise is asked no more. */
export function withdrawOvertaken(goal: OpenGoal): Ruling<OpenGoal> {
  if (!isResting(goal)) return undefined;
  const isOvertaken = ({ id }: { readonly id: string }): boolean => {
    const kind = goal.purposes[id]?.kind;
    if (kind === 'budget') return usedUp(goal) === undefined;
    return kind === 'plan_change' && goal.proposed.plan === undefined;
  };
  const reason = 'a person has settled it otherwise';
  const withdrawn = withdrawGoalAsks(goal, { which: isOvertaken, reason });
  return withdrawn.run === goal ? undefined : withdrawn;
}

/** Rule: the next cycle. */
export function startCycle(goal: OpenGoal): Ruling<OpenGoal> {
  if (!isResting(goal)) return undefined;
  const slice = nextSlice(goal);
  // The row of money ends the goal (endByRow).
  if (slice === undefined || isDone(goal)) return undefined;
  return beginCycle(goal, slice);
}
