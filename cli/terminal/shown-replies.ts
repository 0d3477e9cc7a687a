/**
 * Replies that were shown whole while they came, so that their message need not be shown again.
 * Invariant: one of which a piece was missing is not among them.
 */
export interface ShownReplies {
  began(messageId: string): void;
  /** A piece of what is being said will never come. */
  missed(messageId: string): void;
  ended(messageId: string): void;
  has(messageId: string): boolean;
}

/** A message follows its pieces at once: older ones are never asked for again. */
const REPLIES_MAX = 100;

export function shownReplies(): ShownReplies {
  const shown = new Set<string>();
  let incomplete: string | undefined;
  return {
    began(messageId) {
      if (incomplete === messageId) incomplete = undefined;
    },
    missed(messageId) {
      incomplete = messageId;
    },
    ended(messageId) {
      if (incomplete === messageId) return;
      shown.add(messageId);
      const [oldest] = shown;
      if (shown.size > REPLIES_MAX && oldest !== undefined) shown.delete(oldest);
    },
    has: (messageId) => shown.has(messageId),
  };
}
