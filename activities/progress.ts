/**
 * What the deliveries of one activity know of each other: each heartbeat carries it, and the next delivery finds it.
 * Invariants: small, whatever the number of deliveries; nothing in it is believed that is no count; work is what a
 * model, a tool or a hook takes, never what the store takes; a delivery that is refused before it reached anything
 * counts as no attempt (G115, G121).
 */
import type { Limited } from '../core/effect.js';
import { ownValue } from '../core/json.js';
import { isRecord } from '../core/message-shape.js';
import { isCount } from '../core/money/price.js';

export interface Progress {
  /** How long models, tools and hooks have worked in all deliveries so far, ms, with the pauses that they asked for. */
  readonly workedMs: number;
  /** Deliveries that were refused before they reached a model, a tool or a hook. */
  readonly refused: number;
  /** Since when, in a row, deliveries were refused; ms since epoch. */
  readonly waitingSince?: number;
  /** The ledger attempt that was claimed: from here on the tool may have been called. */
  readonly claimed?: number;
  /** How long this delivery did without any of them, ms. */
  readonly idleMs?: number;
}

const NOTHING: Progress = { workedMs: 0, refused: 0 };

/** What the delivery before this one has left, from its last heartbeat. */
export function progressIn(details: unknown): Progress {
  if (!isRecord(details)) return NOTHING;
  const count = (name: keyof Progress): number | undefined => {
    const value = ownValue(details, name);
    return isCount(value) ? value : undefined;
  };
  const waitingSince = count('waitingSince');
  const claimed = count('claimed');
  return {
    workedMs: count('workedMs') ?? 0,
    refused: count('refused') ?? 0,
    ...(waitingSince !== undefined && { waitingSince }),
    ...(claimed !== undefined && { claimed }),
  };
}

/** An attempt is refused when those before it have used up what all may work. */
export function isUsedUp({ earlier }: Work, { workMs }: Limited): boolean {
  return workMs !== undefined && earlier.workedMs >= workMs;
}

/** The work of one delivery. */
export interface Work {
  readonly earlier: Progress;
  /** A model, a tool or a hook was reached: from here on this delivery is an attempt. */
  readonly reached: boolean;
  /** Runs a model, a tool or a hook: this is the work. */
  outside<T>(run: () => Promise<T>): Promise<T>;
  /** A ledger attempt was claimed; told before its tool is called. */
  claim(ledgerAttempt: number): void;
  /** Of all deliveries so far, ms. */
  ms(): number;
  /** Since when deliveries are refused, if this one is as well; ms since epoch. */
  waitingSince(): number;
  /** What the next delivery should find, when this one ends now. `pauseMs`: asked for by a model or tool. */
  left(end: { readonly refused: boolean; readonly pauseMs: number }): Progress;
  /** The same while it goes on. */
  soFar(): Progress;
}

export interface WorkSite {
  readonly earlier: Progress;
  /** ms since epoch. */
  readonly clock: () => number;
  /** Sends a heartbeat at once. */
  readonly tell: () => void;
}

export function workOf({ earlier, clock, tell }: WorkSite): Work {
  const began = clock();
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
    soFar: () =>
      progress({
        workedMs: ms(),
        refused: earlier.refused,
        idleMs: Math.max(0, clock() - began - own()),
      }),
    left({ refused, pauseMs }) {
      return refused
        ? progress({
            workedMs: earlier.workedMs,
            refused: earlier.refused + 1,
            waitingSince: earlier.waitingSince ?? began,
          })
        : progress({ workedMs: ms() + pauseMs, refused: earlier.refused });
    },
  };
}
