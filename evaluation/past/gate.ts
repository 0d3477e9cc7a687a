/** What counts as a regression: rules of `gate.json`, each about all runs that were played. */
import { z } from 'zod';
import { isRecord } from '../../core/json/shape.js';
import { HoldfastError } from '../../core/state/errors.js';
import { parseJsonText } from '../../pure/json-text.js';
import { problemsOf } from '../problems.js';
import type { PastOutcome } from './outcome.js';
import type { PastSummary } from './summary.js';

const count = z.int().min(0);
const ratio = z.number().min(0);

export const gateSchema = z.strictObject({
  /** Effects that were not recorded, in all runs together. */
  maxNewEffects: count.optional(),
  /** Recorded effects that did not happen again. */
  maxMissingEffects: count.optional(),
  /** Share of runs that complete, by the share that was recorded: 1 is "not below". */
  minCompletionRatio: ratio.optional(),
  /** Cost of all runs by what was recorded. */
  maxCostRatio: ratio.optional(),
  /** Calls of tools of all runs by what was recorded. */
  maxCallRatio: ratio.optional(),
  /** Denied and invalid calls beyond those that were recorded. */
  maxNewBreaches: count.optional(),
  /** Runs that asked something that was never recorded. */
  maxUnmatchedRuns: count.optional(),
  /** Share of runs that end for the same reason. */
  minSameEnd: ratio.max(1).optional(),
  /** Runs that could not be played. */
  maxNotPlayed: count.optional(),
});

export type Gate = z.infer<typeof gateSchema>;
export type GateRule = keyof Gate;

/** Without a file: no new effect, no run less that completes, no call more that is denied or invalid. */
export const DEFAULT_GATE: Gate = { maxNewEffects: 0, minCompletionRatio: 1, maxNewBreaches: 0 };

export interface Violation {
  readonly rule: GateRule;
  readonly allowed: number;
  readonly observed: number;
}

/** `name` is what messages call the file. Errors: `Usage`. */
export function gateIn(text: string, name: string): Gate {
  const parsed = parseJsonText(text);
  if (!parsed.ok) throw wrong(name, `line ${parsed.line}: ${parsed.reason}`);
  if (!isRecord(parsed.value)) throw wrong(name, 'it is no object');
  const checked = gateSchema.safeParse(parsed.value);
  if (!checked.success) throw wrong(name, problemsOf(checked.error).join('; '));
  if (Object.keys(checked.data).length === 0) throw wrong(name, 'it has no rule');
  return checked.data;
}

function wrong(name: string, why: string): HoldfastError {
  return new HoldfastError('Usage', `The gate ${name.slice(-200)} cannot be used: ${why}.`, {
    hint: `A gate is JSON with some of these keys: ${Object.keys(gateSchema.shape).join(', ')}.`,
  });
}

/** Empty: it passes. */
export function violationsOf(
  gate: Gate,
  { was, now, ...summary }: PastSummary,
  outcomes: readonly PastOutcome[],
): readonly Violation[] {
  const sum = (of: (one: PastOutcome) => number): number =>
    outcomes.reduce((all, one) => all + of(one), 0);
  const observed: { readonly [Rule in GateRule]: number } = {
    maxNewEffects: sum((one) => one.new_effects.length),
    maxMissingEffects: sum((one) => one.missing_effects.length),
    minCompletionRatio: ratioOf(now.completed, was.completed),
    maxCostRatio: ratioOf(now.cost_micro_usd, was.cost_micro_usd),
    maxCallRatio: ratioOf(now.calls, was.calls),
    maxNewBreaches: sum((one) => Math.max(0, one.now.breaches - one.was.breaches)),
    maxUnmatchedRuns: summary.unmatched,
    minSameEnd: outcomes.length === 0 ? 1 : summary.same_end / outcomes.length,
    maxNotPlayed: summary.not_played,
  };
  return Object.entries(gate).flatMap(([name, allowed]): readonly Violation[] => {
    const rule = name as GateRule;
    const value = observed[rule];
    const holds = rule.startsWith('min') ? value >= allowed : value <= allowed;
    return holds ? [] : [{ rule, allowed, observed: value }];
  });
}

/** Nothing by nothing is the same; something by nothing is more than any ratio. */
function ratioOf(now: number, was: number): number {
  if (was === 0) return now === 0 ? 1 : Number.MAX_SAFE_INTEGER;
  return now / was;
}
