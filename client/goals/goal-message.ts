/** A message to a goal before it is sent: what the goal would refuse is refused where somebody hears of it. */
import { inMicroUsd } from '../../authoring/budget-in-usd.js';
import { checkedPace } from '../../authoring/goal/pace.js';
import { parseGoalMessage } from '../../core/messages/parse-goal-message.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { GoalMessage } from '../../core/state/goal/message.js';
import { TEXT_HINT, textDefect } from '../../pure/text-defect.js';

/** Errors: InvalidTask. */
export function checkedGoalMessage(raw: object): GoalMessage {
  for (const words of ['text', 'because'] as const) {
    const defect = textDefect((raw as Readonly<Record<string, unknown>>)[words]);
    if (defect === undefined) continue;
    throw new HoldfastError('InvalidTask', `The message was not sent: its ${words} ${defect}.`, {
      hint: TEXT_HINT,
    });
  }
  const parsed = parseGoalMessage(withoutAbsent(withMicroUsd(raw)));
  if (!parsed.ok) throw notSent(parsed.reason);
  const message = parsed.value;
  // Only here a calendar is at hand.
  return message.type === 'setPace' ? { ...message, pace: checkedPace(message.pace) } : message;
}

/** A later budget, in whichever unit its money was written. */
function withMicroUsd(raw: object): object {
  if (!('budget' in raw)) return raw;
  const wrong = (field: string, why: string) => notSent(`budget.${field} cannot be used: ${why}`);
  return { ...raw, budget: inMicroUsd(raw.budget, wrong) };
}

function notSent(why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The message was not sent: ${why}.`, {
    hint: 'Correct it and send it again.',
  });
}

function withoutAbsent(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
