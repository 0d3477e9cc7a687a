/**
 * What a goal does between a pass and its next cycle: the row that ends it, the word of people, handoffs, approvals,
 * sleep, and the start.
 * Invariants: nothing of it happens while a pass or a cycle is open; a row is looked at behind each pass and before each
 * start, never in a sleep.
 */
import type { ActivityEffect } from '../state/effect.js';
import type { EndingRow, OpenGoal } from '../state/goal/goal.js';
import type { ApprovalPoint } from '../state/goal/definition.js';
import type { GoalBudgetField } from '../state/goal/terms.js';
import type { Step } from '../state/run.js';
import type { Ruling } from '../step/advance.js';
import { flying, nextId, only, start, startTimer } from '../step/inflight.js';
import { handOver, planAdopted, withoutProposed, withProposed } from './answers.js';
import { openGoalAsk, withdrawGoalAsks } from './asks.js';
import { isDone, personsToAsk, restHolds } from './conditions.js';
import { beginCycle, draftCycle } from './cycle.js';
import { end } from './ending.js';
import { nextSlice } from './money.js';
import { pendingFor, pendingOf } from './pending.js';
import { beginPass } from './pass.js';
import { UNKNOWNS_MAX } from './review.js';
import { firstRow, isLate, usedUp } from './rows.js';
import { GOAL_STORE_LIMITS, ofGoal, tell } from './telling.js';

export function isResting(goal: OpenGoal): boolean {
  return goal.pass === undefined && goal.cycle === undefined && goal.ending === undefined;
}

/** Rule: the row that ends the goal, unless a person may lift it or their word is needed first. */
export function endByRow(goal: OpenGoal): Ruling<OpenGoal> {
  const { passed, ...looked } = goal;
  if (!isResting(goal) || pendingOf(goal).some(isNoCycle(goal))) return undefined;
  if (isAsleep(goal) && passed === undefined) return undefined;
  const row = firstRow(goal);
  if (row === undefined)
    return passed === undefined ? undefined : only(withoutProposed(looked, 'declined'));
  // (g9) The question about an effect in doubt comes first (askInDoubt).
  if (row.reason === 'completed' && goal.streaks.doubt > 0) return undefined;
  if (isLate(row) && mayAskAlone(goal)) return askPersons(goal);
  return lifted(goal, row) ?? only(end(goal, row));
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
    question: `${field} of the goal is used up. Allow ${amount} more?`,
    args: { field, amount },
    roles: budget.budgetRoles,
  });
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
  if (!isResting(goal) || isAsleep(goal)) return undefined;
  const open = personsToAsk(goal).filter((condition) => !isAsked(goal, condition));
  const proposed = goal.proposed.done === true && mayAskAlone(goal);
  if (open.length > 0 && (restHolds(goal) || proposed)) return askPersons(goal);
  return goal.proposed.done === undefined ? undefined : only(withoutProposed(goal, 'done'));
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

function approvalFor(goal: OpenGoal, point: ApprovalPoint) {
  return goal.terms.approval.find(({ before }) => before === point);
}

/** Rule: changes of the plan, handoffs, and what the reviewer wants asked. */
export function approveChanges(goal: OpenGoal): Ruling<OpenGoal> {
  if (!isResting(goal)) return undefined;
  const { plan, handoff, approval } = goal.proposed;
  if (plan !== undefined) {
    const rule = approvalFor(goal, 'plan_change');
    if (rule === undefined) return only(planAdopted(withoutProposed(goal, 'plan'), plan));
    return openGoalAsk(goal, {
      purpose: { kind: 'plan_change' },
      question: `${plan.by} wants to change the plan.`,
      args: { memory: plan.memory, open: plan.facts.open, done: plan.facts.done },
      ...rule,
    });
  }
  if (handoff !== undefined) return handingOver(goal, handoff);
  if (approval === undefined) return undefined;
  const { reviewer } = goal.terms;
  const roles = reviewer?.roles.length
    ? reviewer.roles
    : (approvalFor(goal, 'every_cycle')?.roles ?? []);
  return openGoalAsk(goal, {
    purpose: { kind: 'review' },
    question: `The reviewer asks before the next step: ${approval}`,
    args: { review: goal.reviews },
    roles,
  });
}

function handingOver(
  goal: OpenGoal,
  handoff: NonNullable<OpenGoal['proposed']['handoff']>,
): Step<OpenGoal> {
  const { to, by, because } = handoff;
  if (!goal.terms.handoffTo.includes(to) && to !== goal.terms.agent)
    return only(withoutProposed(goal, 'handoff'));
  const rule = approvalFor(goal, 'handoff');
  if (rule === undefined) return only(handOver(goal, handoff));
  return openGoalAsk(goal, {
    purpose: { kind: 'handoff', to },
    question: `${by} wants to hand the goal over to ${to}: ${because}`,
    args: { to },
    ...rule,
  });
}

/** Rule: a person holds the goal. */
export function holdPaused(goal: OpenGoal): Ruling<OpenGoal> {
  const { paused, sleep } = goal;
  if (!isResting(goal) || paused === undefined) return undefined;
  if (sleep !== undefined) return 'hold';
  const because = `paused by ${paused.by}`;
  const held: OpenGoal = { ...goal, sleep: { because, since: goal.now, held: true } };
  return only(tell(held, { type: 'goal_sleeping', because }));
}

/** Rule: a person approves the next cycle: its number, agent, brief and slice. */
export function approveCycle(goal: OpenGoal): Ruling<OpenGoal> {
  if (!isResting(goal)) return undefined;
  const rule = cycleApproval(goal);
  if (rule === undefined) return undefined;
  const n = goal.cycles + 1;
  const { draft, proposed } = goal;
  if (proposed.approved?.n === n && proposed.approved.digest === draft?.digest) return undefined;
  if (pendingFor(goal, 'cycle') !== undefined) return 'hold';
  const slice = nextSlice(goal);
  if (slice === undefined) return undefined;
  if (draft?.n !== n) return flying(goal, ['prepare_cycle']) ? 'hold' : draftCycle(goal, slice);
  return openGoalAsk(goal, {
    purpose: { kind: 'cycle', n },
    question: `Start cycle ${n} of the goal?`,
    args: { goal: goal.runId, n, agent: goal.agent, brief: draft.digest, slice: slice as never },
    ...rule,
  });
}

function cycleApproval(goal: OpenGoal) {
  const first = goal.cycles === 0 ? approvalFor(goal, 'first_cycle') : undefined;
  return first ?? approvalFor(goal, 'every_cycle');
}

/** What was approved was another cycle: the question is asked anew. */
export function withdrawApproval(goal: OpenGoal, reason: string): Step<OpenGoal> {
  const { draft: _, ...rest } = withoutProposed(goal, 'approved');
  return withdrawGoalAsks(rest, {
    which: ({ id }) => goal.purposes[id]?.kind === 'cycle',
    reason,
  });
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

/** Rule: the pace, and pauses that cycles or the reviewer asked for. */
export function pace(goal: OpenGoal): Ruling<OpenGoal> {
  if (!isResting(goal)) return undefined;
  const { sleep } = goal;
  if (sleep === undefined) return beginSleep(goal);
  if (sleep.over) return undefined;
  if (sleep.asking !== undefined) return 'hold';
  return sleep.until !== undefined && goal.now >= sleep.until ? only(wake(goal, 'time')) : 'hold';
}

function beginSleep(goal: OpenGoal): Ruling<OpenGoal> {
  const { terms, proposed, lastCycleStart } = goal;
  const { pauseUntil, pauseBecause = 'asked' } = proposed;
  if (goal.wakeKept) return skipSleep(goal);
  const rest = withoutProposed(goal, 'pauseUntil', 'pauseBecause');
  const asked = pauseUntil !== undefined && pauseUntil > goal.now ? pauseUntil : undefined;
  const paceOf = terms.pace;
  if (typeof paceOf === 'object' && 'cron' in paceOf) return askTick(goal, paceOf);
  if (paceOf === 'when_woken' && lastCycleStart !== undefined)
    return fallAsleep(rest, { because: asked === undefined ? 'waits to be woken' : pauseBecause });
  const next =
    typeof paceOf === 'object' && lastCycleStart !== undefined
      ? lastCycleStart + paceOf.everyMs
      : undefined;
  const until = later(asked, next !== undefined && next > goal.now ? next : undefined);
  if (until === undefined) return undefined;
  return fallAsleep(rest, { until, because: until === asked ? pauseBecause : 'pace' });
}

function later(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : other === undefined ? one : Math.max(one, other);
}

/** A wake that was kept ends the sleep before it begins. */
function skipSleep(goal: OpenGoal): Ruling<OpenGoal> {
  const rest = withoutProposed({ ...goal, wakeKept: false }, 'pauseUntil', 'pauseBecause');
  return only({ ...rest, sleep: { because: 'woken', since: goal.now, over: true } });
}

function askTick(
  goal: OpenGoal,
  { cron, timezone }: { readonly cron: string; readonly timezone: string },
): Step<OpenGoal> {
  const id = `find_tick-${goal.nextEffect}`;
  const sleep = { because: 'pace', since: goal.now, asking: id };
  return start({ ...goal, sleep }, 'find_tick', (_, events): ActivityEffect => ({
    kind: 'find_tick',
    id,
    // Ticks that passed in a cycle, or while the goal was held, are one.
    input: {
      ...ofGoal(goal),
      cron,
      timezone,
      after: goal.lastCycleStart ?? goal.startedAt,
      events,
    },
    limits: GOAL_STORE_LIMITS,
    summary: cron,
  }));
}

/** Fact: the next tick of the cron line is known. */
export function tickFound(goal: OpenGoal, effectId: string, at: number | null): OpenGoal {
  const { sleep, proposed } = goal;
  if (sleep?.asking !== effectId) return goal;
  const { asking: _, ...rest } = sleep;
  const asked = proposed.pauseUntil;
  const until = at === null ? undefined : later(at, asked);
  return { ...goal, sleep: { ...rest, found: true, ...(until !== undefined && { until }) } };
}

/** Rule: a tick that was found is slept for. */
export function sleepForTick(goal: OpenGoal): Ruling<OpenGoal> {
  const { sleep } = goal;
  if (!isResting(goal) || sleep?.found !== true) return undefined;
  const { until, because } = sleep;
  const rest = withoutProposed(goal, 'pauseUntil', 'pauseBecause');
  if (goal.wakeKept) return skipSleep(rest);
  if (until !== undefined && until <= goal.now)
    return only({ ...rest, sleep: { because, since: goal.now, over: true } });
  return fallAsleep(rest, { because, ...(until !== undefined && { until }) });
}

function fallAsleep(
  goal: OpenGoal,
  { until, because }: { readonly until?: number; readonly because: string },
): Step<OpenGoal> {
  const sleep = { because, since: goal.now, ...(until !== undefined && { until }) };
  const told = tell(
    { ...goal, sleep },
    { type: 'goal_sleeping', because, ...(until !== undefined && { until }) },
  );
  if (until === undefined) return only(told);
  const timed = startTimer(told, { at: until, summary: 'sleep' });
  const timer = nextId(told, 'timer');
  return { run: { ...timed.run, sleep: { ...sleep, timer } }, effects: timed.effects };
}

/** The sleep ends; whoever calls takes its timer away. */
export function wake(goal: OpenGoal, by: string): OpenGoal {
  const { sleep } = goal;
  if (sleep === undefined || sleep.over) return goal;
  const woken: OpenGoal = {
    ...goal,
    sleep: { because: sleep.because, since: sleep.since, over: true },
  };
  return tell(woken, { type: 'goal_woken', by, sleptMs: goal.now - sleep.since });
}

/** Rule: the next cycle. */
export function startCycle(goal: OpenGoal): Ruling<OpenGoal> {
  if (!isResting(goal)) return undefined;
  const slice = nextSlice(goal);
  // The row of money ends the goal (endByRow).
  if (slice === undefined || isDone(goal)) return undefined;
  return beginCycle(withProposed(goal, {}), slice);
}
