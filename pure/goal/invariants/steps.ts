/** What must hold of each step of a goal. */
import { CONTINUE_AS_NEW_BYTES_MAX, fitsBytes } from '../../../core/json/json.js';
import type { Effect } from '../../../core/state/effect.js';
import { GOAL_BYTES_MAX, type Goal } from '../../../core/state/goal/goal.js';
import type { ConditionTerm, GoalTerms } from '../../../core/state/goal/terms.js';
import type { Step } from '../../../core/state/run.js';
import { follows } from '../../../core/step/changes.js';

type GoalStepPredicate = (before: Goal, step: Step<Goal>) => string | undefined;

export const STEP_PREDICATES: readonly GoalStepPredicate[] = [
  startsOneCycle,
  nothingStartsBehindTheEnd,
  requestsFit,
  moneyAddsUp,
  completedAtRest,
  doneHolds,
  cycleOrPass,
  stateIsSmall,
  endIsDecidedOnce,
];

type Kind = Effect['kind'];
/** Effects that begin something of the goal's work. */
const BEGINS: readonly Kind[] = ['start_child', 'run_check', 'ask_judge', 'prepare_cycle'];
/** Effects behind which requests to a model leave. */
const SPENDS: readonly Kind[] = ['start_child', 'ask_judge'];

function started(step: Step<Goal>, kinds: readonly Kind[]): readonly Effect[] {
  return step.effects.filter(({ kind }) => kinds.includes(kind));
}

/** (g1) */
function startsOneCycle(before: Goal, step: Step<Goal>): string | undefined {
  const children = started(step, ['start_child']);
  if (children.length > 1) return '(g1) two cycles are started at once';
  const open = before.cycle?.stage === 'open' || before.cycle?.stage === 'closing';
  return children.length > 0 && open ? `(g1) cycle ${before.cycle.n} is open` : undefined;
}

/** (g1) */
function nothingStartsBehindTheEnd({ ending }: Goal, step: Step<Goal>): string | undefined {
  const [begun] = ending === undefined ? [] : started(step, BEGINS);
  return begun === undefined ? undefined : `(g1) ${begun.kind} behind the end`;
}

/** (g2) */
function requestsFit(_: Goal, step: Step<Goal>): string | undefined {
  return started(step, SPENDS).length > 0 ? withinBudget(step.run) : undefined;
}

export function withinBudget({ money, terms }: Goal): string | undefined {
  const { spentMicroUsd, reservedMicroUsd } = money;
  const budget = terms?.budget.maxCostMicroUsd ?? 0;
  return spentMicroUsd + reservedMicroUsd <= budget
    ? undefined
    : `(g2) ${spentMicroUsd} spent and ${reservedMicroUsd} reserved of ${budget}`;
}

/** (g7) */
function moneyAddsUp(_: Goal, { run: { money } }: Step<Goal>): string | undefined {
  const { spentMicroUsd, children, reviews, judges } = money;
  const sum = children + reviews + judges;
  return spentMicroUsd === sum ? undefined : `(g7) ${spentMicroUsd} spent, parts sum up to ${sum}`;
}

/** (g9) */
function completedAtRest(before: Goal, { run }: Step<Goal>): string | undefined {
  const { ending, streaks, cycle, asks } = run;
  if (ending?.reason !== 'completed') return undefined;
  if (ending.row === 'handed_off' && !follows(run, 'handedOffAtRest')) return undefined;
  const isAsked = ending.result !== undefined && asks.some(({ outcome }) => outcome === 'pending');
  if (isAsked) return '(g9) completed while a question is open';
  if (streaks.doubt > 0) return '(g9) completed while an effect is in doubt';
  const isDecided = before.ending === undefined;
  return isDecided && cycle !== undefined ? '(g9) completed while a cycle is open' : undefined;
}

/** (g3) */
function doneHolds(before: Goal, { run }: Step<Goal>): string | undefined {
  const decided = before.ending === undefined && run.ending?.row === 'done';
  if (!decided || run.terms === undefined) return undefined;
  return holds(run, run.terms) ? undefined : '(g3) done, and its conditions do not hold';
}

function holds(goal: Goal, { done: { mode, conditions } }: GoalTerms): boolean {
  const held = conditions.map((term, index) => isHeld(goal, term, index));
  return mode === 'all' ? held.every(Boolean) : held.some(Boolean);
}

function isHeld(goal: Goal, term: ConditionTerm, index: number): boolean {
  switch (term.kind) {
    case 'check': {
      const check = goal.checks[term.name];
      return check !== undefined && check.known && isFresh(goal, check) && has(check.held, index);
    }
    case 'state':
      return has(goal.stateHeld, index);
    case 'plan':
      return goal.plan.open === 0 && goal.plan.done > 0;
    case 'judge': {
      const judgement = goal.judgements[index];
      if (judgement === undefined || !judgement.valid) return false;
      return (judgement.score ?? 0) >= term.atLeast && judgement.evidence.length > 0;
    }
    case 'person':
      return goal.persons[index]?.answer === 'yes';
  }
}

/** It ran behind the newest cycle. */
function isFresh(goal: Goal, { cycle }: { readonly cycle: number }): boolean {
  return cycle === goal.cycles;
}

function has(indexes: readonly number[], index: number): boolean {
  return indexes.includes(index);
}

function cycleOrPass(_: Goal, { run }: Step<Goal>): string | undefined {
  return run.cycle !== undefined && run.pass !== undefined
    ? '(g1) a pass while a cycle is open'
    : undefined;
}

/** With the state within what a segment hands on. */
const WAITING_BYTES_MAX = CONTINUE_AS_NEW_BYTES_MAX - GOAL_BYTES_MAX;

/**
 * What lies in the outbox is on its way to the store; a start is there until it is opened; what waits to be heeded has a
 * bound of its own (goal/heard.ts).
 */
function stateIsSmall(_: Goal, { run }: Step<Goal>): string | undefined {
  if (run.terms === undefined) return undefined;
  const { outbox: _outbox, start: _start, messages, unjudged, ...kept } = run;
  if (!fitsBytes([messages, unjudged], WAITING_BYTES_MAX))
    return `more than ${WAITING_BYTES_MAX} bytes wait to be heeded`;
  return fitsBytes(kept, GOAL_BYTES_MAX)
    ? undefined
    : `the goal is larger than ${GOAL_BYTES_MAX} bytes`;
}

/** An ending is decided once. */
function endIsDecidedOnce({ ending }: Goal, { run }: Step<Goal>): string | undefined {
  if (ending === undefined) return undefined;
  return run.ending?.row === ending.row && run.ending.reason === ending.reason
    ? undefined
    : `(g5) the end was ${ending.row}, now it is ${run.ending?.row ?? 'none'}`;
}
