/** What the sender of a message hears. */
import type { MessageRefusal, MessageVerdict } from '../state/goal/message.js';
import type { HeldMessage, OpenGoal } from '../state/goal/goal.js';
import { warnOf } from './telling.js';

export function accept(goal: OpenGoal, { message, ticket }: HeldMessage, words?: string): OpenGoal {
  const verdict: MessageVerdict = {
    accepted: true,
    ...(words !== undefined && { message: words }),
  };
  return answered(withoutMessage(goal, message.id), ticket, verdict);
}

interface Refused {
  readonly reason: MessageRefusal;
  readonly message: string;
}

export function refuse(
  goal: OpenGoal,
  { message, ticket }: HeldMessage,
  refusal: Refused,
): OpenGoal {
  const text = `${message.type} by ${message.by} does not count: ${refusal.message}`;
  const told = warnOf(withoutMessage(goal, message.id), 'goal_message_refused', text);
  return answered(told, ticket, { accepted: false, ...refusal });
}

function withoutMessage(goal: OpenGoal, id: string): OpenGoal {
  return { ...goal, messages: goal.messages.filter(({ message }) => message.id !== id) };
}

export function answered<G extends Pick<OpenGoal, 'verdicts'>>(
  goal: G,
  ticket: string | undefined,
  verdict: MessageVerdict,
): G {
  return ticket === undefined
    ? goal
    : { ...goal, verdicts: [...goal.verdicts, { ticket, verdict }] };
}

/** Said to whoever waits over the end of a segment. */
export const RECEIVED = {
  accepted: true,
  message: 'Received: the goal heeds the message in its next segment.',
} as const satisfies MessageVerdict;
