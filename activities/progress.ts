/**
 * What the deliveries of one activity know of each other: each heartbeat carries it, and the next delivery finds it.
 * Invariants: small, whatever the number of deliveries; nothing in it is believed that is no count; work is what a
 * model, a tool or a hook takes, never what the store takes; a delivery that is refused before it reached anything
 * counts as no attempt (G115, G121).
 */
import type { Limited } from '../core/state/effect.js';
import { ownValue } from '../core/json/json.js';
import { isRecord } from '../core/json/shape.js';
import { isCount } from '../core/json/count.js';

/** What is waited for, but not for ever. */
const LACKING = ['code', 'transcript'] as const;
export type Lacking = (typeof LACKING)[number];

export interface Progress {
  /** How long models, tools and hooks have worked in all deliveries so far, ms, with the pauses that they asked for. */
  readonly workedMs: number;
  /** Deliveries that were refused, or lost, before they reached a model, a tool or a hook. */
  readonly refused: number;
  /** Deliveries that failed, or were lost at work. */
  readonly tries: number;
  /** Said by a delivery that ends with it; without it the delivery was lost. */
  readonly left?: true;
  /** Since when, in a row, deliveries were refused; ms since epoch. */
  readonly waitingSince?: number;
  /** What the newest refusals in a row were for want of, where that is waited for so long and no longer. */
  readonly lacks?: Lacking;
  /** Since when they were; ms since epoch. */
  readonly lacksSince?: number;
  /** The ledger attempt that was claimed: from here on the tool may have been called. */
  readonly claimed?: number;
  /** How long this delivery did without any of them, ms. */
  readonly idleMs?: number;
  /** When this was said by a delivery that is at work; ms since epoch. */
  readonly workingAt?: number;
}

const NOTHING: Progress = { workedMs: 0, refused: 0, tries: 0 };

/** What the delivery before this one has left, from its last heartbeat. */
export function progressIn(details: unknown): Progress {
  if (!isRecord(details)) return NOTHING;
  const count = (name: keyof Progress): number | undefined => {
    const value = ownValue(details, name);
    return isCount(value) ? value : undefined;
  };
  const waitingSince = count('waitingSince');
  const lacksSince = count('lacksSince');
  const lacks = LACKING.find((one) => one === ownValue(details, 'lacks'));
  const claimed = count('claimed');
  const workingAt = count('workingAt');
  return {
    workedMs: count('workedMs') ?? 0,
    refused: count('refused') ?? 0,
    tries: count('tries') ?? 0,
    ...(ownValue(details, 'left') === true && { left: true as const }),
    ...(waitingSince !== undefined && { waitingSince }),
    ...(lacks !== undefined && lacksSince !== undefined && { lacks, lacksSince }),
    ...(claimed !== undefined && { claimed }),
    ...(workingAt !== undefined && { workingAt }),
  };
}

/** A delivery that says nothing has been lost before its first heartbeat, which comes after this long at the latest. */
const UNTOLD_MS_MAX = 2_500;

/**
 * How long the delivery before this one may have worked after its last word: it was lost, or its time ran out.
 * At most what its silence is allowed to last, so that an absence costs no more.
 */
function untoldMs({ details, attempt, silenceMs, scheduledAt }: Predecessor, at: number): number {
  const { workingAt } = progressIn(details);
  if (workingAt !== undefined) return between(0, at - workingAt, silenceMs);
  if (isRecord(details) || attempt <= 1) return 0;
  return between(0, at - scheduledAt, Math.min(silenceMs, UNTOLD_MS_MAX));
}

/**
 * What the delivery before this one was, when it was lost: a try if it was at work, or may have been; else it waited for
 * the store, and is none.
 */
function counted({ details, attempt }: Predecessor): Pick<Progress, 'refused' | 'tries'> {
  const { refused, tries, left, workingAt, claimed } = progressIn(details);
  if (!isRecord(details)) return { refused, tries: Math.max(0, attempt - 1) };
  if (left === true) return { refused, tries };
  const wasAtWork = workingAt !== undefined || claimed !== undefined;
  return wasAtWork ? { refused, tries: tries + 1 } : { refused: refused + 1, tries };
}

function between(least: number, value: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}

/** Work that takes its worker down, or fails in the same way again and again, is not tried for ever. */
export const TRIES_MAX = 20;

/** An attempt is refused when those before it have used up what all may work. */
export function isUsedUp({ earlier }: Work, { workMs }: Limited): boolean {
  return earlier.tries >= TRIES_MAX || (workMs !== undefined && earlier.workedMs >= workMs);
}

/** Why, of what is named by `subject`. */
export function usedUpText(subject: string, { earlier }: Work, { workMs }: Limited): string {
  return workMs !== undefined && earlier.workedMs >= workMs
    ? `${subject} did not answer within the ${workMs} ms that it has.`
    : `${subject} failed, or was lost with its worker, ${earlier.tries} times.`;
}

/** What is left for a model or tool that may work for `ownMs`, of what all deliveries may work for together; ms. */
export function leftFor({ ownMs, workMs = ownMs }: OutsideLimit, work: Work): number {
  return Math.max(1, Math.min(ownMs, workMs - work.ms()));
}

interface OutsideLimit extends Limited {
  readonly ownMs: number;
}

/** The work of one delivery. */
export interface Work {
  readonly earlier: Progress;
  /** A model, a tool or a hook was reached: from here on this delivery is an attempt. */
  readonly reached: boolean;
  /** A ledger attempt was claimed, by this delivery or one before it. */
  readonly claimed: boolean;
  /** Runs a model, a tool or a hook: this is the work. */
  outside<T>(run: () => Promise<T>): Promise<T>;
  /** A ledger attempt was claimed; told before its tool is called. */
  claim(ledgerAttempt: number): void;
  /** Of all deliveries so far, ms. */
  ms(): number;
  /** Since when deliveries are refused, if this one is as well; ms since epoch. */
  waitingSince(): number;
  /** The same of those for want of this; ms since epoch. */
  lackingSince(what: Lacking): number;
  /** What the next delivery should find, when this one ends now. */
  left(end: DeliveryEnd): Progress;
  /** The same while it goes on. */
  soFar(): Progress;
}

interface DeliveryEnd {
  /** A delivery that reached nothing; for want of what, where that counts. */
  readonly refused: boolean | Lacking;
  /** Asked for by a model or tool, ms. */
  readonly pauseMs: number;
}

/** What Temporal tells of the delivery before this one. */
interface Predecessor {
  /** Its last heartbeat. */
  readonly details: unknown;
  /** Which delivery this one is, from 1. */
  readonly attempt: number;
  /** A delivery that says nothing for this long is taken for lost, ms. */
  readonly silenceMs: number;
  /** When the activity was scheduled; ms since epoch. */
  readonly scheduledAt: number;
}

export interface WorkSite extends Predecessor {
  /** ms since epoch. */
  readonly clock: () => number;
  /** Sends a heartbeat at once. */
  readonly tell: () => void;
}

export function workOf({ clock, tell, ...predecessor }: WorkSite): Work {
  const began = clock();
  const { workingAt: _, left: __, ...told } = progressIn(predecessor.details);
  const workedMs = told.workedMs + untoldMs(predecessor, began);
  const earlier = { ...told, ...counted(predecessor), workedMs };
  let reached = false;
  let claimed = earlier.claimed;
  let doneMs = 0;
  let since: number | undefined;
  const own = (): number => doneMs + (since === undefined ? 0 : Math.max(0, clock() - since));
  const ms = (): number => earlier.workedMs + own();
  const progress = (told: Progress): Progress =>
    claimed === undefined ? told : { ...told, claimed };
  return {
    earlier,
    get reached() {
      return reached;
    },
    get claimed() {
      return claimed !== undefined;
    },
    async outside(run) {
      reached = true;
      since = clock();
      try {
        return await run();
      } finally {
        doneMs = own();
        since = undefined;
      }
    },
    claim(ledgerAttempt) {
      claimed = ledgerAttempt;
      tell();
    },
    ms,
    waitingSince: () => earlier.waitingSince ?? began,
    lackingSince: (what) => lackingSince(earlier, what) ?? began,
    soFar: () =>
      progress({
        workedMs: ms(),
        refused: earlier.refused,
        tries: earlier.tries,
        idleMs: Math.max(0, clock() - began - own()),
        ...(since !== undefined && { workingAt: clock() }),
      }),
    left({ refused, pauseMs }) {
      const end =
        refused === false
          ? { workedMs: ms() + pauseMs, refused: earlier.refused, tries: earlier.tries + 1 }
          : refusedAgain(earlier, began, refused);
      return progress({ ...end, left: true });
    },
  };
}

function refusedAgain(earlier: Progress, began: number, wants: true | Lacking): Progress {
  return {
    workedMs: earlier.workedMs,
    refused: earlier.refused + 1,
    tries: earlier.tries,
    waitingSince: earlier.waitingSince ?? began,
    ...(wants !== true && { lacks: wants, lacksSince: lackingSince(earlier, wants) ?? began }),
  };
}

function lackingSince({ lacks, lacksSince }: Progress, what: Lacking): number | undefined {
  return lacks === what ? lacksSince : undefined;
}
