/** Where a worker can be killed: before and after each message, and in the middle of what it does. */
import type { Fate, Message } from './wire.js';

export type Inside =
  | 'in the middle of a reply'
  | 'in the middle of a summary'
  | 'while a tool reads'
  | 'before a payment'
  | 'after a payment'
  | 'while a person is waited for';

export type Point =
  | { readonly kind: 'message'; readonly message: Message; readonly fate: Fate }
  | { readonly kind: 'inside'; readonly what: Inside };

export const INSIDE: readonly Point[] = (
  [
    'in the middle of a reply',
    'in the middle of a summary',
    'while a tool reads',
    'before a payment',
    'after a payment',
    'while a person is waited for',
  ] as const
).map((what) => ({ kind: 'inside', what }));

/** A task that is handed out can get lost on its way; an outcome, on its way or after it has arrived. */
export function pointsOf(messages: readonly Message[]): readonly Point[] {
  return messages.flatMap((message): readonly Point[] => {
    const fates: readonly Fate[] = message.name.startsWith('Poll')
      ? ['unsent']
      : ['unsent', 'unheard'];
    return fates.map((fate) => ({ kind: 'message', message, fate }));
  });
}
