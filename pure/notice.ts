/**
 * What becomes of a notice after a try: it is sent, tried again later, or given up. Owns the schedule; the
 * clock and the dice are the caller's.
 * Invariants:
 *  N1. Every notice comes to an end: whatever the receiver says, at most NOTICE_TRIES_MAX tries are made, and
 *      none that begins later than NOTICE_AGE_MS_MAX after the first was due, but for one that was held up.
 *  N2. No pause is longer than NOTICE_PAUSE_MS_MAX, also when the receiver asks for more.
 *  N3. A receiver that asks for a pause (429, 503 with Retry-After) is asked before it, within N2, by nobody about
 *      what waits for it then; about what comes later not by the one who was told. Requests under way stay.
 */

/** What came back of one request. */
export type NoticeReply =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Retry-After, from the answer on. */
      readonly retryAfterMs?: number;
    }
  /** No connection, no answer in time, or none that can be read. */
  | { readonly kind: 'no_answer' };

export interface NoticeTry {
  readonly reply: NoticeReply;
  /** How many there were, with this one. */
  readonly tries: number;
  /** When the first was due, ms since epoch. */
  readonly firstAt: number;
  /** When this one ended. */
  readonly at: number;
  /** From 0 to 1, by chance: many that failed together are not tried together. */
  readonly chance: number;
}

export type NoticeFate =
  | { readonly state: 'sent' }
  | { readonly state: 'given_up'; readonly fault: string }
  | {
      readonly state: 'waiting';
      readonly fault: string;
      readonly nextAt: number;
      /** Until then the receiver wants no notice at all. */
      readonly quietUntil?: number;
    };

/** Three days: after a weekend somebody has seen that the receiver is broken. */
export const NOTICE_AGE_MS_MAX = 3 * 24 * 3_600_000;
/** Far more than fit into that time by N2; a bound of its own, since crashes count as tries. */
export const NOTICE_TRIES_MAX = 200;
export const NOTICE_PAUSE_MS_MAX = 3_600_000;
const FIRST_PAUSE_MS = 5_000;
const GROWTH = 3;

const GONE = 410;
const ASKS_FOR_PAUSE: ReadonlySet<number> = new Set([429, 503]);

export function fateOf({ reply, tries, firstAt, at, chance }: NoticeTry): NoticeFate {
  if (reply.kind === 'answered' && reply.status >= 200 && reply.status < 300) {
    return { state: 'sent' };
  }
  const fault = faultOf(reply);
  const lastAt = firstAt + NOTICE_AGE_MS_MAX;
  const isGone = reply.kind === 'answered' && reply.status === GONE;
  if (isGone || tries >= NOTICE_TRIES_MAX || at >= lastAt) return { state: 'given_up', fault };
  const askedMs = askedPauseOf(reply);
  const pauseMs = Math.max(ownPause(tries, chance), askedMs ?? 0);
  return {
    state: 'waiting',
    fault,
    // What would come too late comes at the end, once.
    nextAt: Math.min(at + pauseMs, Math.max(lastAt, at + (askedMs ?? 0))),
    ...(askedMs !== undefined && { quietUntil: at + askedMs }),
  };
}

/** Whether it is likely to take no other notice now: it is not there, or has too much to do. */
export function takesNone(reply: NoticeReply): boolean {
  return reply.kind === 'no_answer' || ASKS_FOR_PAUSE.has(reply.status);
}

/** Whether this one, counted from 1, may be made: a sender that dies in every try must not try for ever. */
export function mayTry(tries: number): boolean {
  return tries <= NOTICE_TRIES_MAX;
}

/** Grows threefold; between half of it and the whole, by chance. */
function ownPause(tries: number, chance: number): number {
  const whole = Math.min(FIRST_PAUSE_MS * GROWTH ** (tries - 1), NOTICE_PAUSE_MS_MAX);
  return Math.round(whole * (0.5 + chance / 2));
}

function askedPauseOf(reply: NoticeReply): number | undefined {
  if (reply.kind === 'no_answer' || !ASKS_FOR_PAUSE.has(reply.status)) return undefined;
  const { retryAfterMs } = reply;
  if (retryAfterMs === undefined || !(retryAfterMs > 0)) return undefined;
  return Math.min(retryAfterMs, NOTICE_PAUSE_MS_MAX);
}

function faultOf(reply: NoticeReply): string {
  return reply.kind === 'answered' ? `status ${reply.status}` : 'no answer';
}
