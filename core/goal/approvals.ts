/**
 * What people approve between two cycles: changed plans, handoffs, what the reviewer wants asked, the next cycle.
 * Invariant: what was approved is what happens; another plan, agent, brief or slice is asked anew.
 */
import type { OpenGoal } from '../state/goal/goal.js';
import type { ApprovalPoint } from '../state/goal/definition.js';
import type { Step } from '../state/run.js';
import type { Ruling } from '../step/advance.js';
import { flying, only } from '../step/inflight.js';
import { handOver, withoutProposed } from './answers.js';
import { planAdopted } from './plan-adopted.js';
import { openGoalAsk, withdrawGoalAsks } from './asks.js';
import { draftCycle } from './cycle.js';
import { nextSlice } from './money.js';
import { isResting, pendingFor } from './pending.js';

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
