/** All runs of an evaluation on the past, added up. */
import type { NotPlayed, PastOutcome, Side } from './outcome.js';

export interface PastTotals {
  readonly completed: number;
  readonly turns: number;
  readonly calls: number;
  readonly cost_micro_usd: number;
  readonly breaches: number;
}

export interface PastSummary {
  readonly runs: number;
  readonly played: number;
  readonly not_played: number;
  readonly same_end: number;
  readonly same_effects: number;
  /** Runs that asked something that was never recorded. */
  readonly unmatched: number;
  readonly was: PastTotals;
  readonly now: PastTotals;
}

export function summaryOfPast(outcomes: readonly (PastOutcome | NotPlayed)[]): PastSummary {
  const played = outcomes.filter((one) => one.kind === 'played');
  const count = (is: (one: PastOutcome) => boolean): number => played.filter(is).length;
  return {
    runs: outcomes.length,
    played: played.length,
    not_played: outcomes.length - played.length,
    same_end: count((one) => one.same_end),
    same_effects: count((one) => one.same_effects),
    unmatched: count((one) => one.unmatched.length > 0),
    was: totalsOf(played.map((one) => one.was)),
    now: totalsOf(played.map((one) => one.now)),
  };
}

function totalsOf(sides: readonly Side[]): PastTotals {
  const sum = (of: (side: Side) => number): number => sides.reduce((all, one) => all + of(one), 0);
  return {
    completed: sum(({ completed }) => (completed ? 1 : 0)),
    turns: sum(({ turns }) => turns),
    calls: sum(({ calls }) => calls),
    cost_micro_usd: sum((side) => side.cost_micro_usd),
    breaches: sum(({ breaches }) => breaches),
  };
}
