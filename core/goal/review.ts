/**
 * A review: the six answers, three of them computed, and what follows from those of the reviewer.
 * Invariants: the reviewer's model is asked only where no row was noted, or only an exhausted plan; the reviewer ends a
 * goal only by saying that its objective is not valid any more, and a person's word on that stands above.
 */
import { previewOf } from '../json/json.js';
import type { OpenGoal, Pass } from '../state/goal/goal.js';
import type { ReviewAnswer, ReviewAnswers } from '../state/goal/memory.js';
import type { AskJudgeOutput } from '../state/goal/payloads.js';
import type { Ruling } from '../step/advance.js';
import { follows } from '../step/changes.js';
import { only } from '../step/inflight.js';
import { dollars } from '../money/dollars.js';
import { conditionWords, isDone, verdictOf } from './conditions.js';
import { freeMicroUsd } from './money.js';
import { planAdopted } from './plan-adopted.js';
import { askReviewer, unpaid } from './question.js';
import { tell } from './telling.js';

type Said = NonNullable<AskJudgeOutput['review']>;

const TEXT_CHARS_MAX = 300;
/** Invalid answers of the reviewer in a row, after which a person is asked instead. */
export const UNKNOWNS_MAX = 3;

/** undefined: no review is due, or this pass had one. */
export function review(goal: OpenGoal, pass: Pass): Ruling<OpenGoal> {
  if (pass.reviewed || !isDue(goal, pass)) return undefined;
  const { answered } = pass;
  if (answered === undefined && mayAsk(goal, pass)) {
    const asked = askReviewer(goal, pass, computedAnswers(goal, pass));
    if (asked !== undefined) return asked;
    if (goal.terms.reviewer !== undefined) return only(record(unpaid(goal, 'reviewer'), pass));
  }
  return only(record(goal, pass, answered === 'invalid' ? undefined : answered));
}

function isDue(goal: OpenGoal, pass: Pass): boolean {
  if (pass.row !== undefined) return true;
  if (pass.reason === 'baseline') return false;
  if (goal.reviewAsked || pass.reason === 'review') return true;
  const { cycles, turns, minutes, costMicroUsd } = goal.terms.reviewEvery;
  const since = goal.sinceReview;
  return (
    reached(since.cycles, cycles) ||
    reached(since.turns, turns) ||
    reached(goal.now - since.at, minutes === undefined ? undefined : minutes * 60_000) ||
    reached(since.costMicroUsd, costMicroUsd)
  );
}

function reached(used: number, limit: number | undefined): boolean {
  return limit !== undefined && used >= limit;
}

function mayAsk(goal: OpenGoal, { row }: Pass): boolean {
  const isFree = row === undefined || row.row === 'plan_exhausted';
  return isFree && (goal.unknowns['reviewer'] ?? 0) < UNKNOWNS_MAX;
}

/** What is computed of the six answers. */
export function computedAnswers(goal: OpenGoal, pass: Pass): ReviewAnswers {
  const { objectiveValid } = goal;
  return {
    objective_valid: answer(
      objectiveValid === undefined ? 'not asked' : objectiveValid.valid ? 'yes' : 'no',
      objectiveValid === undefined ? '' : `${objectiveValid.by} said so`,
    ),
    progress: answer(
      pass.progress.length === 0 ? 'none' : `${pass.progress.length} kinds`,
      pass.progress.map(({ kind, id }) => `${kind} ${id}`).join(', '),
    ),
    within_budget: answer(freeMicroUsd(goal) > 0 ? 'yes' : 'no', budgetWords(goal)),
    done: answer(isDone(goal) ? 'yes' : 'no', doneWords(goal)),
    approval_needed: answer(needsApproval(goal) ? 'yes' : 'no', ''),
    compact_or_handoff: answer(
      goal.proposed.handoff === undefined ? 'no' : 'handoff',
      goal.proposed.handoff === undefined ? '' : `to ${goal.proposed.handoff.to} is proposed`,
    ),
  };
}

function answer(said: string, because: string, evidence: readonly string[] = []): ReviewAnswer {
  return { answer: said, because: because.slice(0, TEXT_CHARS_MAX), evidence };
}

/** Forecast: the mean of the newest cycles, for each open step, else for each cycle that is left. */
function budgetWords(goal: OpenGoal): string {
  const { money, terms, cycles, plan } = goal;
  const sum = money.newest.reduce((total, cost) => total + cost, 0);
  const mean = sum === 0 ? 0 : Math.round(sum / money.newest.length);
  const leftCycles = Math.max(0, terms.budget.maxCycles - cycles);
  const forecast = mean * (plan.open > 0 ? Math.min(plan.open, leftCycles) : leftCycles);
  return (
    `spent ${dollars(money.spentMicroUsd)}, reserved ${dollars(money.reservedMicroUsd)} of ` +
    `${dollars(terms.budget.maxCostMicroUsd)}; forecast ${dollars(forecast)} more`
  );
}

function doneWords(goal: OpenGoal): string {
  return goal.terms.done.conditions
    .map((term, index) => `${conditionWords(term)}: ${verdictOf(goal, index)}`)
    .join('; ');
}

function needsApproval({ terms, cycles, proposed }: OpenGoal): boolean {
  return terms.approval.some(
    ({ before }) =>
      before === 'every_cycle' ||
      (before === 'first_cycle' && cycles === 0) ||
      (before === 'handoff' && proposed.handoff !== undefined) ||
      (before === 'plan_change' && proposed.plan !== undefined),
  );
}

function record(goal: OpenGoal, pass: Pass, said?: Said): OpenGoal {
  const n = goal.reviews + 1;
  const answers = withSaid(computedAnswers(goal, pass), said);
  const decision = decisionOf(pass, said);
  const { answered: _, ...rest } = pass;
  const reviewed: OpenGoal = {
    ...goal,
    reviews: n,
    reviewAsked: false,
    sinceReview: { cycles: 0, turns: 0, at: goal.now, costMicroUsd: 0 },
    pass: { ...rest, step: 'rows', reviewed: true, review: { n, answers, decision } },
  };
  const told = tellReview(reviewed, { n, answers, decision });
  return said === undefined ? told : followed(told, said);
}

interface Review {
  readonly n: number;
  readonly answers: ReviewAnswers;
  readonly decision: string;
}

/** With the cost of what was asked since the review before; judges are asked in passes without a review, too. */
function tellReview(goal: OpenGoal, { n, answers, decision }: Review): OpenGoal {
  const { reviews, judges, toldMicroUsd = 0 } = goal.money;
  const costMicroUsd = reviews + judges - toldMicroUsd;
  const isTold = costMicroUsd > 0 && follows(goal, 'toldReviewCosts');
  const told = tell(goal, {
    type: 'goal_review',
    n,
    cycle: goal.cycles,
    answers,
    decision,
    ...(isTold && { costMicroUsd }),
  });
  return isTold ? { ...told, money: { ...told.money, toldMicroUsd: reviews + judges } } : told;
}

function withSaid(computed: ReviewAnswers, said: Said | undefined): ReviewAnswers {
  if (said === undefined) return computed;
  const because = previewOf(said.because);
  const { evidence } = said;
  const own = computed.objective_valid.answer !== 'not asked';
  return {
    ...computed,
    ...(said.objectiveValid !== undefined &&
      !own && { objective_valid: answer(said.objectiveValid ? 'yes' : 'no', because, evidence) }),
    progress: {
      ...computed.progress,
      because: `${computed.progress.because} ${because}`.trim().slice(0, TEXT_CHARS_MAX),
      evidence,
    },
    ...(said.approvalNeeded && { approval_needed: answer('yes', because, evidence) }),
    ...(said.handoff !== undefined && {
      compact_or_handoff: answer('handoff', `to ${said.handoff}: ${because}`, evidence),
    }),
  };
}

function decisionOf({ row }: Pass, said: Said | undefined): string {
  if (said?.objectiveValid === false) return 'the objective is not valid any more';
  if (said?.handoff !== undefined) return `hand over to ${said.handoff}`;
  if (said?.plan !== undefined) return 'change the plan';
  if (said?.approvalNeeded) return 'ask a person before the next step';
  if (said?.pauseMs !== undefined) return 'pause';
  return row === undefined
    ? 'go on'
    : `end: ${row.reason}${row.detail === undefined ? '' : ` (${row.detail})`}`;
}

/** What the reviewer may do, as goals.md §4 says; the goal's own rules do it. */
function followed(goal: OpenGoal, said: Said): OpenGoal {
  const because = previewOf(said.because).slice(0, TEXT_CHARS_MAX);
  const person = goal.objectiveValid !== undefined && goal.objectiveValid.by !== REVIEWER;
  const { handoffTo, maxAskedPauseMs } = goal.terms;
  const mayHandOff = said.handoff !== undefined && handoffTo.includes(said.handoff);
  const next: OpenGoal = {
    ...goal,
    ...(said.objectiveValid !== undefined &&
      !person && { objectiveValid: { valid: said.objectiveValid, by: REVIEWER } }),
    proposed: {
      ...goal.proposed,
      ...(mayHandOff && { handoff: { to: said.handoff!, by: REVIEWER, because } }),
      ...(said.approvalNeeded && { approval: because }),
      ...(said.pauseMs !== undefined && {
        pauseUntil: goal.now + Math.min(said.pauseMs, maxAskedPauseMs),
        pauseBecause: because,
      }),
    },
  };
  if (said.memory === undefined || said.plan === undefined) return next;
  const { memory, plan } = said;
  if (next.terms.approval.some(({ before }) => before === 'plan_change')) {
    // What people are asked about stays what they were shown.
    if (goal.proposed.plan !== undefined) return next;
    return { ...next, proposed: { ...next.proposed, plan: { memory, facts: plan, by: REVIEWER } } };
  }
  return planAdopted(next, { memory, facts: plan, by: REVIEWER });
}

const REVIEWER = 'reviewer';
