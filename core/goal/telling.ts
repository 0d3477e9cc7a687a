/** Events of a goal, stamped with what it is doing, and the limits of its activities. */
import type { EventBody, Phase } from '../state/event.js';
import { refOf, type EffectLimits } from '../state/effect.js';
import type { Goal, OpenGoal } from '../state/goal/goal.js';
import type { WarningCode } from '../state/warning.js';
import { emit } from '../step/outbox.js';

const WARNING_CHARS_MAX = 500;

export function tell<G extends Goal>(goal: G, body: EventBody): G {
  return emit({ ...goal, phase: phaseOf(goal) }, body);
}

/** Bounded, because it quotes the outside. After the result nothing is told. */
export function warnOf<G extends Goal>(goal: G, code: WarningCode, message: string): G {
  if (goal.ending?.result !== undefined || goal.terms === undefined) return goal;
  return tell(goal, { type: 'warning', code, message: message.slice(0, WARNING_CHARS_MAX) });
}

function phaseOf({ ending, pass, cycle, terms }: Goal): Phase {
  if (ending !== undefined) return 'finishing';
  if (terms === undefined) return 'initializing';
  if (pass !== undefined) return 'passing';
  return cycle === undefined ? 'resting' : 'cycling';
}

/** Of work on the store alone, repeated until it is there; ms. */
export const GOAL_STORE_LIMITS: EffectLimits = {
  attemptMs: 60_000,
  heartbeatMs: 10_000,
  maximumAttempts: 0,
};

/** First in the payload of each activity. */
export function ofGoal(goal: Goal) {
  return { v: 1 as const, run: refOf(goal) };
}

export function ofOpenGoal(goal: OpenGoal) {
  return { ...ofGoal(goal), definition: goal.terms.definition, memory: goal.memory };
}
