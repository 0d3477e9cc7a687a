/**
 * Rules as data, and the loop that applies them to a Carrier: the first rule that fires decides, and the rules are tried
 * again from the top until none fires.
 *
 * Invariants:
 *  A1 Deterministic: the same carrier gives the same step; no clock, randomness or I/O.
 *  A2 Terminates: at most ROUNDS_MAX rule applications, else it is a bug and says so.
 *  A3 No step is taken whose payload is larger than PAYLOAD_BYTES_MAX, while the carrier can stop instead.
 *  A4 Each event that a rule emits carries the rule's name. Names are added, never altered: they stand in events.
 */
import type { Step } from '../state/run.js';
import type { Carrier } from '../state/carrier.js';
import type { ActivityEffect, Effect } from '../state/effect.js';
import { follows } from './changes.js';

export const ROUNDS_MAX = 1_000;

/** A step; 'hold' when nothing below may fire now; undefined when the rule does not apply. */
export type Ruling<C extends Carrier> = Step<C> | 'hold' | undefined;

type Subject = readonly [Carrier, ...unknown[]];

interface Row<C extends Carrier, Args extends Subject> {
  /** What the rule decides, in sentences for people who do not know the code. */
  readonly says: string;
  /** What waits while the rule holds; `nothing` for a rule that never holds. */
  readonly holds: string;
  /** The first rules number that has the rule (changes.ts). */
  readonly since: number;
  readonly apply: (...args: Args) => Ruling<C>;
}

export interface Rule<Name extends string, C extends Carrier, Args extends Subject> extends Row<
  C,
  Args
> {
  readonly name: Name;
}

export function rule<Name extends string, C extends Carrier, Args extends Subject>(
  name: Name,
  row: Row<C, Args>,
): Rule<Name, C, Args> {
  return { name, ...row };
}

export interface Fired<C extends Carrier, Name extends string> {
  readonly rule: Name;
  readonly step: Step<C>;
}

/**
 * The first of these rules that fires, or 'hold' when one holds first. From `ruleNames` on the carrier is written to: it
 * has the name of the rule that looks at it.
 */
export function firstOf<Name extends string, C extends Carrier, Args extends Subject>(
  rules: readonly Rule<Name, C, Args>[],
  ...args: Args
): Fired<C, Name> | 'hold' | undefined {
  const stamped: { rule?: string } | undefined = follows(args[0], 'ruleNames')
    ? args[0]
    : undefined;
  for (const { name, apply } of rules) {
    if (stamped !== undefined) stamped.rule = name;
    const ruling = apply(...args);
    if (ruling === 'hold') return 'hold';
    if (ruling !== undefined) return { rule: name, step: ruling };
  }
  return undefined;
}

/** By what a kind of carrier advances. */
export interface Rulebook<C extends Carrier, Name extends string> {
  /** The first rule that fires; undefined: none does, or one holds. */
  firing(carrier: C): Fired<C, Name> | undefined;
  /** The carrier in place of a step whose effect is too large to be started; undefined: it goes on all the same. */
  withoutOversized(carrier: C, effect: ActivityEffect): C | undefined;
  /** What goes out beside the effects of the rules, when none fires any more. */
  atRest(step: Step<C>): Step<C>;
}

/** What was decided, and by which rules, in the order in which they fired. */
export interface Decided<C extends Carrier, Name extends string> extends Step<C> {
  readonly rules: readonly Name[];
}

export function advance<C extends Carrier, Name extends string>(
  book: Rulebook<C, Name>,
  carrier: C,
): Decided<C, Name> {
  let current = carrier;
  const effects: Effect[] = [];
  const rules: Name[] = [];
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const fired = book.firing(current);
    if (fired === undefined) return { ...book.atRest({ run: unnamed(current), effects }), rules };
    rules.push(fired.rule);
    const oversized = fired.step.effects.find(isOversized);
    const instead = oversized && book.withoutOversized(current, oversized);
    current = instead ?? fired.step.run;
    if (instead === undefined) effects.push(...fired.step.effects);
  }
  throw new Error(
    `advance did not come to rest in ${ROUNDS_MAX} rounds; this is a bug in the core`,
  );
}

function isOversized(effect: Effect): effect is ActivityEffect {
  return 'oversized' in effect;
}

/** Outside of `advance` no rule is under way. */
function unnamed<C extends Carrier>(carrier: C): C {
  if (carrier.rule === undefined) return carrier;
  const { rule: _, ...rest } = carrier;
  return rest as C;
}
