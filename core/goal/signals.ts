/**
 * What a signal to a goal becomes: an input, or `input_rejected` with the reason.
 * Invariants: those of core/loop/signals.ts.
 */
import { isWellFormed } from '../json/shape.js';
import { parseGoalMessage } from '../messages/parse-goal-message.js';
import { parseDecision, type Parsed } from '../messages/parse-message.js';
import type { Decision } from '../state/ask.js';
import type { GoalInput } from '../state/goal/input.js';

const ID_CHARS_MAX = 200;

/** In the order in which the workflow gets ready for them. */
export const GOAL_SIGNALS = [
  'goalMessage',
  'resolveApproval',
  'childEnded',
  'nextSegment',
] as const;

export interface GoalSignal {
  readonly name: string;
  /** Its argument, as it came. */
  readonly raw: unknown;
  /** ms since epoch, workflow time. */
  readonly at: number;
}

type RejectedByGoal = Extract<GoalInput, { type: 'input_rejected' }>['message'];

export function heardByGoal({ name, raw, at }: GoalSignal): GoalInput {
  const rejected = (message: RejectedByGoal, reason: string): GoalInput => ({
    type: 'input_rejected',
    message,
    reason,
    at,
  });
  switch (name) {
    case 'goalMessage': {
      const parsed = parseGoalMessage(raw);
      return parsed.ok
        ? { type: 'goal_message', message: parsed.value, at }
        : rejected(name, parsed.reason);
    }
    case 'resolveApproval': {
      const parsed = wholeDecision(raw);
      return parsed.ok
        ? { type: 'decision', decision: parsed.value, at }
        : rejected(name, parsed.reason);
    }
    case 'childEnded':
      return typeof raw === 'string' && raw.length <= ID_CHARS_MAX
        ? { type: 'child_ended', child: raw, at }
        : rejected('signal', 'childEnded must name a run');
    case 'nextSegment':
      return { type: 'segment_full', at };
    default:
      return rejected('signal', `this workflow knows no signal '${name.slice(0, 100)}'`);
  }
}

export function wholeDecision(raw: unknown): Parsed<Decision> {
  const parsed = parseDecision(raw);
  if (!parsed.ok || isWellFormed(parsed.value)) return parsed;
  return { ok: false, reason: 'a text of the decision has half of a surrogate pair' };
}
