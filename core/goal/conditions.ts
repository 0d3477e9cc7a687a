/**
 * The formula of `done` over what checks, the published state, the plan, judges and people say.
 * Invariants: *unknown* is asked and without a valid answer, *not asked* never is; an answer of a judge counts only for
 * what it was shown.
 */
import { digestOf } from '../json/json.js';
import type { ConditionTerm } from '../state/goal/terms.js';
import type { Judgement } from '../state/goal/facts.js';
import type { Goal, OpenGoal } from '../state/goal/goal.js';
import { pendingOf } from './pending.js';

export type ConditionVerdict = 'held' | 'not_held' | 'unknown' | 'not_asked';

export function verdictOf(goal: OpenGoal, index: number): ConditionVerdict {
  const term = goal.terms.done.conditions[index]!;
  switch (term.kind) {
    case 'check': {
      const check = goal.checks[term.name];
      if (check === undefined) return 'not_asked';
      if (!check.known) return 'unknown';
      return check.held.includes(index) ? 'held' : 'not_held';
    }
    case 'state':
      return goal.stateHeld.includes(index) ? 'held' : 'not_held';
    case 'plan':
      return goal.plan.open === 0 && goal.plan.done > 0 ? 'held' : 'not_held';
    case 'judge': {
      const judgement = goal.judgements[index];
      if (judgement === undefined || !isCurrent(goal, judgement)) return 'not_asked';
      if (!judgement.valid) return 'unknown';
      return (judgement.score ?? 0) >= term.atLeast ? 'held' : 'not_held';
    }
    case 'person': {
      const answer = goal.persons[index];
      if (answer === undefined) return 'not_asked';
      return answer.answer === 'yes' ? 'held' : 'not_held';
    }
  }
}

/** Of what is shown now, or the word of a person about the newest cycle. */
function isCurrent(goal: OpenGoal, { digest, cycle }: Judgement): boolean {
  return cycle === goal.cycles || digest === shownDigest(goal);
}

/** The formula holds, and nothing is open on which it could founder. */
export function isDone(goal: OpenGoal): boolean {
  return isAtRest(goal) && formula(goal, (index) => verdictOf(goal, index) === 'held');
}

/** No call, child, ask or effect in doubt is open in the goal's tree. */
export function isAtRest(goal: Goal): boolean {
  return goal.cycle === undefined && goal.streaks.doubt === 0 && pendingOf(goal).length === 0;
}

function formula({ terms }: OpenGoal, held: (index: number) => boolean): boolean {
  const { mode, conditions } = terms.done;
  const indexes = conditions.map((_, index) => index);
  return mode === 'all' ? indexes.every(held) : indexes.some(held);
}

/**
 * Judges to ask now, by the index of their condition: of `all` when everything cheaper holds, of `any` when nothing
 * cheaper does; each once for the same evidence, state and measurements.
 */
export function judgesToAsk(goal: OpenGoal): readonly number[] {
  const { mode, conditions } = goal.terms.done;
  const cheaper = conditions.flatMap((term, index) =>
    term.kind === 'judge' || term.kind === 'person' ? [] : [verdictOf(goal, index) === 'held'],
  );
  const isTime = mode === 'all' ? cheaper.every(Boolean) : !cheaper.some(Boolean);
  if (!isTime || goal.streaks.doubt > 0) return [];
  return conditions.flatMap((term, index) =>
    term.kind === 'judge' && verdictOf(goal, index) === 'not_asked' ? [index] : [],
  );
}

/** Everything of `all` but the people's word holds. */
export function restHolds(goal: OpenGoal): boolean {
  const { mode, conditions } = goal.terms.done;
  const others = conditions.flatMap((term, index) =>
    term.kind === 'person' ? [] : [verdictOf(goal, index) === 'held'],
  );
  return mode === 'all' && others.length > 0 && others.every(Boolean);
}

/** People's conditions that may be asked: without an answer, or with a *no* since which a cycle made progress. */
export function personsToAsk(goal: OpenGoal): readonly number[] {
  return goal.terms.done.conditions.flatMap((term, index) => {
    if (term.kind !== 'person') return [];
    const answer = goal.persons[index];
    const isOpen =
      answer === undefined ||
      (answer.answer === 'no' && goal.streaks.progressed > answer.progressed);
    return isOpen ? [index] : [];
  });
}

/** Of what a judge is shown. */
export function shownDigest(goal: OpenGoal): string {
  const values = Object.entries(goal.checks).map(([name, { value, digest, known }]) => [
    name,
    known,
    value ?? null,
    digest ?? null,
  ]);
  return digestOf({
    revision: goal.terms.revision,
    evidence: goal.evidenceDigest,
    held: [...goal.stateHeld],
    checks: values as never,
  });
}

/** The condition in a few words. */
export function conditionWords(term: ConditionTerm): string {
  switch (term.kind) {
    case 'check':
      return `check ${term.name}`;
    case 'state':
      return `state ${term.path}`;
    case 'plan':
      return 'plan complete';
    case 'judge':
      return `judge ${term.name} at least ${term.atLeast}`;
    case 'person':
      return `person: ${term.question.slice(0, 100)}`;
  }
}
