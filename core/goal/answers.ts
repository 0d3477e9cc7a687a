/**
 * What follows from the answers of people.
 * Invariant: a question is closed once, and its answer is acted on in the same step.
 */
import type { Ask } from '../state/ask.js';
import type { AskOutcome } from '../state/ask-kinds.js';
import type { OpenGoal, Proposed } from '../state/goal/goal.js';
import type { AskPurpose, GoalLimits } from '../state/goal/terms.js';
import type { Ruling } from '../step/advance.js';
import { follows } from '../step/changes.js';
import { flying } from '../step/inflight.js';
import { outcomeOf } from '../step/open-work.js';
import { closeGoalAsk } from './asks.js';
import { shownDigest, verdictOf } from './conditions.js';
import { beginPass } from './pass.js';
import { planAdopted } from './plan-adopted.js';
import { tell } from './telling.js';

type Answer = Exclude<AskOutcome, 'pending'>;

/** Rule: the first question whose votes or time have decided is closed, and acted on. */
export function heedAnswers(goal: OpenGoal): Ruling<OpenGoal> {
  // One at a time writes the memory.
  if (follows(goal, 'clearedDoubts') && flying(goal, ['take_message'])) return undefined;
  for (const ask of goal.asks) {
    const outcome = outcomeOf(ask);
    if (outcome === 'pending') continue;
    const purpose = goal.purposes[ask.id];
    const closed = closeGoalAsk(goal, ask, { outcome });
    const next = purpose === undefined ? closed.run : act(closed.run, { purpose, ask, outcome });
    return { run: next, effects: closed.effects };
  }
  return undefined;
}

interface Answered {
  readonly purpose: AskPurpose;
  readonly ask: Ask;
  readonly outcome: Answer;
}

function act(goal: OpenGoal, answered: Answered): OpenGoal {
  const { purpose, ask, outcome } = answered;
  switch (purpose.kind) {
    case 'person':
      return ofPerson(goal, purpose.condition, answered);
    case 'cycle':
      return outcome === 'approved'
        ? withProposed(goal, { approved: approvedOf(ask, purpose.n) })
        : notApproved(goal, answered);
    case 'review':
      return outcome === 'approved'
        ? withoutProposed(goal, 'approval')
        : notApproved(withoutProposed(goal, 'approval'), answered);
    case 'plan_change':
      return ofPlan(goal, answered);
    case 'handoff':
      return outcome === 'approved'
        ? handOver(goal, { to: purpose.to, by: byOf(ask), because: 'approved' })
        : told(
            withoutProposed(goal, 'handoff'),
            `The handoff to ${purpose.to} was not approved`,
            answered,
          );
    case 'budget':
      return ofBudget(goal, purpose, answered);
    case 'stuck':
      return outcome === 'approved' ? goOn(goal) : withStop(goal);
    case 'unknown':
      return ofUnknown(goal, purpose.who, answered);
    case 'doubt':
      return outcome === 'approved' ? cleared(goal) : notApproved(goal, answered);
  }
}

function cleared(goal: OpenGoal): OpenGoal {
  const clear = { ...goal, streaks: { ...goal.streaks, doubt: 0 } };
  return follows(goal, 'clearedDoubts') ? beginPass(clear, 'answer') : clear;
}

function byOf({ votes }: Ask): string {
  return votes.map(({ by }) => by).join(', ') || 'nobody';
}

function ofPerson(goal: OpenGoal, condition: number, { ask, outcome }: Answered): OpenGoal {
  const yes = outcome === 'approved';
  const persons = {
    ...goal.persons,
    [condition]: {
      answer: yes ? ('yes' as const) : ('no' as const),
      by: byOf(ask),
      askId: ask.id,
      progressed: goal.streaks.progressed,
    },
  };
  const answered = { ...goal, persons };
  return yes
    ? beginPass(answered, 'answer')
    : told(answered, `To "${(ask.question ?? '').slice(0, 200)}" the answer is no`, {
        ask,
        outcome,
      });
}

/** An expiry stops the goal, or counts as a refusal. */
function notApproved(
  goal: OpenGoal,
  { ask, outcome }: Pick<Answered, 'ask' | 'outcome'>,
): OpenGoal {
  const expired = outcome === 'expired' && ask.onExpiry === 'stop';
  return withProposed({ ...goal, passed: true }, { approvalRow: expired ? 'timeout' : 'rejected' });
}

function approvedOf(ask: Ask, n: number) {
  const digest = (ask.args as { readonly brief?: string }).brief ?? '';
  return { n, digest };
}

function ofPlan(goal: OpenGoal, answered: Answered): OpenGoal {
  const { plan } = goal.proposed;
  const rest = withoutProposed(goal, 'plan');
  if (plan === undefined) return rest;
  if (answered.outcome !== 'approved')
    return told(rest, 'The change of the plan was not approved', answered);
  return planAdopted(rest, plan);
}

export function handOver(
  goal: OpenGoal,
  { to, by, because }: { readonly to: string; readonly by: string; readonly because: string },
): OpenGoal {
  const next = withoutProposed({ ...goal, agent: to }, 'handoff');
  return tell(next, { type: 'handoff', to, by, because: because.slice(0, 500) });
}

function ofBudget(
  goal: OpenGoal,
  purpose: Extract<AskPurpose, { kind: 'budget' }>,
  { ask, outcome }: Answered,
): OpenGoal {
  if (outcome !== 'approved') return withStop(goal);
  const vote = ask.votes.find(({ decision }) => decision === 'approve');
  return withBudget(goal, purpose.field, {
    more: vote?.amount ?? purpose.amount,
    by: byOf(ask),
    proven: vote?.signed !== undefined,
  });
}

interface Raise {
  readonly more: number;
  readonly by: string;
  readonly proven: boolean;
}

/** A person's more: money not beyond the hard limit. */
function withBudget(
  goal: OpenGoal,
  field: keyof GoalLimits,
  { more, by, proven }: Raise,
): OpenGoal {
  const { budget } = goal.terms;
  const before = budget[field];
  if (typeof before !== 'number') return goal;
  const raised = before + more;
  const limit = field === 'maxCostMicroUsd' ? Math.min(raised, budget.hardMaxCostMicroUsd) : raised;
  const richer: OpenGoal = {
    ...goal,
    terms: { ...goal.terms, budget: { ...budget, [field]: limit } },
    streaks: { ...goal.streaks, starved: false },
  };
  if (!follows(goal, 'toldRaises')) return richer;
  return tell(richer, {
    type: 'goal_steered',
    by,
    proven,
    text: { text: '' },
    control: 'setBudget',
    value: { [field]: limit },
  });
}

/** As many more cycles as the rule gives. */
function goOn(goal: OpenGoal): OpenGoal {
  const streaks = { ...goal.streaks, failed: 0, noProgress: 0, blocked: 0, noMeasure: 0 };
  return { ...goal, streaks };
}

/** Whoever was asked about the end wants it: the row that was found counts without another word. */
function withStop(goal: OpenGoal): OpenGoal {
  return withProposed({ ...goal, passed: true }, { declined: true });
}

function ofUnknown(goal: OpenGoal, who: string, answered: Answered): OpenGoal {
  const { ask, outcome } = answered;
  const held = follows(goal, 'answeredUnknowns');
  if (held && outcome === 'expired') return notApproved(goal, answered);
  const unknowns = { ...goal.unknowns, [who]: 0 };
  const next: OpenGoal = { ...goal, unknowns };
  const yes = outcome === 'approved';
  if (who === 'reviewer') {
    const invalid = { valid: false, by: byOf(ask) };
    return yes ? next : { ...next, objectiveValid: invalid, passed: true };
  }
  const name = who.slice('judge:'.length);
  const isUnknown = (index: number): boolean => verdictOf(goal, index) === 'unknown';
  const indexes = goal.terms.done.conditions.flatMap((term, index) =>
    term.kind === 'judge' && term.name === name && isUnknown(index) ? [index] : [],
  );
  if (indexes.length === 0) return next;
  const judgement = {
    digest: shownDigest(goal),
    valid: true,
    score: yes ? 1 : 0,
    evidence: [`ask/${ask.id}`],
    by: byOf(ask),
    ...(held && { cycle: goal.cycles }),
  };
  const answers = Object.fromEntries(indexes.map((index) => [index, judgement]));
  const judged = { ...next, judgements: { ...goal.judgements, ...answers } };
  return yes ? beginPass(judged, 'answer') : judged;
}

/** The next brief says so. */
function told(
  goal: OpenGoal,
  what: string,
  { ask, outcome }: Pick<Answered, 'ask' | 'outcome'>,
): OpenGoal {
  const reason = ask.votes.find((vote) => vote.reason !== undefined)?.reason;
  const said = outcome === 'expired' ? 'nobody answered in time' : (reason ?? 'without a reason');
  return withFeedback(goal, `${what}: ${said}`);
}

const FEEDBACK_MAX = 20;
const FEEDBACK_CHARS_MAX = 300;

export function withFeedback(goal: OpenGoal, text: string): OpenGoal {
  const feedback = [...goal.feedback, text.slice(0, FEEDBACK_CHARS_MAX)].slice(-FEEDBACK_MAX);
  return { ...goal, feedback };
}

export function withProposed(goal: OpenGoal, more: Proposed): OpenGoal {
  return { ...goal, proposed: { ...goal.proposed, ...more } };
}

export function withoutProposed(goal: OpenGoal, ...names: readonly (keyof Proposed)[]): OpenGoal {
  const kept = Object.entries(goal.proposed).filter(([name]) => !names.includes(name as never));
  return { ...goal, proposed: Object.fromEntries(kept) as Proposed };
}
