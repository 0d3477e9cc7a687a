/**
 * Moments that are probably looked at next, fetched ahead. All are of one index: what a newer one shows is fetched anew.
 * Invariants: one is fetched ahead at a time, and none while somebody waits for another; what is kept is bounded, and so is
 * what was fetched in vain, because a person's requests are counted; a desk that failed to is asked nothing ahead again.
 */
import { isRefusal } from '../data/api.js';
import type { Moment, StepsIndex } from '../data/api-types.js';

const KEPT_MAX = 12;
const CHARS_MAX = 400_000;
/** A minute. A desk that says nothing else allows a person 600 requests. */
const IN_VAIN_MAX = 120;
const MINUTE_MS = 60_000;
/** A question is open there: it counts as seen, so it is fetched when it is shown. */
const NOT_AHEAD = 409;

export interface MomentAsked {
  readonly step: number;
  readonly ahead: boolean;
}

export interface MomentsAhead {
  /** Undefined: `read` has it. */
  at(step: number): Moment | undefined;
  /** Errors: ApiProblem. */
  read(step: number, signal: AbortSignal): Promise<Moment>;
  /** What is on the way for none of those that are likely now ends. */
  fetch(shown: Moment, likely: readonly number[]): Promise<void>;
  stop(): void;
}

interface Flight {
  readonly step: number;
  readonly leaving: AbortController;
  /** Undefined: there is none ahead. */
  readonly moment: Promise<Moment | undefined>;
}

export function momentsAhead(
  index: StepsIndex,
  ask: (asked: MomentAsked, signal: AbortSignal) => Promise<Moment>,
): MomentsAhead {
  const kept = keptOf(index);
  const vain = vainRequests();
  const notAhead = new Set<number>();
  let flight: Flight | undefined;
  let round = 0;
  let hasFailed = false;

  const take = async (step: number, signal: AbortSignal): Promise<Moment | undefined> => {
    try {
      const moment = await ask({ step, ahead: true }, signal);
      kept.keep(moment);
      return moment;
    } catch (error) {
      if (isRefusal(error) && error.status === NOT_AHEAD) notAhead.add(step);
      else if (!signal.aborted) hasFailed = true;
      return undefined;
    }
  };

  const stop = (): void => {
    round += 1;
    flight?.leaving.abort();
    flight = undefined;
  };

  return {
    at: kept.at,
    async read(step, signal) {
      const coming = flight?.step === step ? flight : undefined;
      if (coming === undefined) stop();
      else round += 1;
      return (await coming?.moment) ?? ask({ step, ahead: false }, signal);
    },
    async fetch(shown, likely) {
      kept.keep(shown);
      vain.seen(shown.step);
      if (flight !== undefined && !likely.includes(flight.step)) stop();
      const mine = (round += 1);
      await flight?.moment;
      if (mine === round) flight = undefined;
      for (const step of likely) {
        if (mine !== round || hasFailed) return;
        const isWanted = kept.lasts(step) && kept.at(step) === undefined && !notAhead.has(step);
        if (!isWanted || !vain.mayAsk(step)) continue;
        const leaving = new AbortController();
        flight = { step, leaving, moment: take(step, leaving.signal) };
        await flight.moment;
        if (mine === round) flight = undefined;
      }
    },
    stop,
  };
}

interface Kept extends Pick<MomentsAhead, 'at'> {
  /** What comes behind the last step of a run that goes on is not there yet. */
  lasts(step: number): boolean;
  keep(moment: Moment): void;
}

function keptOf({ steps, source }: StepsIndex): Kept {
  /** The one looked at last is the last. */
  const kept = new Map<number, Moment>();
  const lasts = (step: number): boolean => source === 'file' || step < steps.length;
  return {
    lasts,
    at: (step) => kept.get(step),
    keep(moment) {
      const { step } = moment;
      const isKnown = kept.get(step) === moment;
      kept.delete(step);
      if (!lasts(step) || (!isKnown && JSON.stringify(moment).length > CHARS_MAX)) return;
      kept.set(step, moment);
      if (kept.size > KEPT_MAX) kept.delete([...kept.keys()][0]!);
    },
  };
}

interface VainRequests {
  mayAsk(step: number): boolean;
  seen(step: number): void;
}

function vainRequests(): VainRequests {
  let asked: readonly { readonly step: number; readonly at: number }[] = [];
  return {
    mayAsk(step) {
      const at = Date.now();
      asked = asked.filter((one) => one.at > at - MINUTE_MS);
      if (asked.length >= IN_VAIN_MAX) return false;
      asked = [...asked, { step, at }];
      return true;
    },
    seen(step) {
      asked = asked.filter((one) => one.step !== step);
    },
  };
}
