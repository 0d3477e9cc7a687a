/** A message to a goal before it is sent: what the goal would refuse is refused where somebody hears of it. */
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
  const parsed = parseGoalMessage(withoutAbsent(raw));
  if (!parsed.ok) {
    throw new HoldfastError('InvalidTask', `The message was not sent: ${parsed.reason}.`, {
      hint: 'Correct it and send it again.',
    });
  }
  const message = parsed.value;
  // Only here a calendar is at hand.
  return message.type === 'setPace' ? { ...message, pace: checkedPace(message.pace) } : message;
}

function withoutAbsent(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
