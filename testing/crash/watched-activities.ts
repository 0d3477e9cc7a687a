/**
 * A worker's activities, told of what only shows around them: a result that the server has and the run has
 * not, and a run in which nothing is under way because it waits for a person.
 */
import { completeAhead, untilStopped } from '../../activities/index.js';
import type { Activities } from '../../core/state/effect.js';
import type { WireEvent } from '../../core/state/event.js';
import { COMPLETION_KINDS, type CompletionFault } from './boundary.js';
import type { OutcomeWatch } from './outcome-watch.js';
import type { Passage } from './watched-deps.js';

export interface ActivityWatch {
  readonly passed: Passage;
  readonly outcomes: OutcomeWatch;
  /** What is to become of the report of this result. */
  readonly faultOf: (kind: string, runId: string) => CompletionFault['completion'] | undefined;
}

/** So long nothing of a run that has asked somebody may begin until it counts as parked, ms. */
const QUIET_MS = 300;
const ASKS: readonly string[] = ['approval_requested', 'input_request'];

interface AnyInput {
  readonly run: { readonly runId: string };
  readonly events?: readonly WireEvent[];
}

type AnyActivity = (input: AnyInput) => Promise<unknown>;

export function watchedActivities(activities: Activities, watch: ActivityWatch): Activities {
  const parking = parkingLot(watch.passed);
  const entries = Object.entries(activities as unknown as Readonly<Record<string, AnyActivity>>);
  const watched = entries.map(([kind, run]): readonly [string, AnyActivity] => [
    kind,
    async (input) => {
      const { runId } = input.run;
      const asks = (input.events ?? []).filter(({ type }) => ASKS.includes(type)).length;
      parking.began(runId);
      try {
        const output = await run(input);
        if (COMPLETION_KINDS.has(kind)) watch.outcomes.expect(runId, output);
        await report(watch.faultOf(kind, runId), output);
        return output;
      } finally {
        parking.ended(runId, asks);
      }
    },
  ]);
  // The same names with the same signatures.
  return Object.fromEntries(watched) as unknown as Activities;
}

async function report(
  fault: CompletionFault['completion'] | undefined,
  output: unknown,
): Promise<void> {
  if (fault === 'duplicate') await completeAhead(output);
  // Nobody hears of the result: the activity neither ends nor beats any more.
  if (fault === 'drop') await untilStopped();
}

interface ParkingLot {
  began(runId: string): void;
  ended(runId: string, asks: number): void;
}

interface Waiting {
  underWay: number;
  /** Questions that were announced and have not been passed as a boundary. */
  asks: number;
  timer?: NodeJS.Timeout;
}

function parkingLot(passed: Passage): ParkingLot {
  const runs = new Map<string, Waiting>();
  const waitingOf = (runId: string): Waiting => {
    const known = runs.get(runId) ?? { underWay: 0, asks: 0 };
    runs.set(runId, known);
    return known;
  };
  const park = (runId: string): void => {
    const { asks } = waitingOf(runId);
    runs.delete(runId);
    for (let ask = 0; ask < asks; ask += 1) passed('while-parked', runId);
  };
  return {
    began(runId) {
      const waiting = waitingOf(runId);
      clearTimeout(waiting.timer);
      waiting.underWay += 1;
    },
    ended(runId, asks) {
      const waiting = waitingOf(runId);
      waiting.underWay -= 1;
      waiting.asks += asks;
      if (waiting.underWay > 0) return;
      if (waiting.asks === 0) runs.delete(runId);
      else waiting.timer = setTimeout(park, QUIET_MS, runId).unref();
    },
  };
}
