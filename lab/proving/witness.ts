/**
 * Looks at what a run has told the store whenever something dies, and compares in the end.
 * Invariant (guarantee 4): what was known once stays: the line of events after a recovery begins with the one before.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Store } from '../../store/store.js';

export interface Witness {
  /** Takes down what the store knows now. */
  look(): Promise<void>;
  looks(): number;
  /** What was known at a look and is not in the final events in the same place. */
  missing(events: readonly RunEvent[]): readonly string[];
}

const PAGE_EVENTS = 500;
const EVENTS_MAX = 100_000;

export function createWitness(
  store: Pick<Store, 'readEvents'>,
  run: { readonly tenant: string; readonly runId: string },
): Witness {
  const seen: (readonly string[])[] = [];
  return {
    async look() {
      seen.push((await readAllEvents(store, run)).map(lineOf));
    },
    looks: () => seen.length,
    missing(events) {
      const final = events.map(lineOf);
      return seen.flatMap((lines, look) => {
        const at = lines.findIndex((line, seq) => line !== final[seq]);
        return at < 0 ? [] : [`event ${at}, known at death ${look + 1}, is another one now`];
      });
    },
  };
}

export async function readAllEvents(
  store: Pick<Store, 'readEvents'>,
  run: { readonly tenant: string; readonly runId: string },
): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  while (events.length < EVENTS_MAX) {
    const query = { sinceSeq: events.length, limit: PAGE_EVENTS };
    const page = await store.readEvents(run, query);
    if (page.events.length === 0) break;
    events.push(...page.events);
  }
  return events;
}

function lineOf(event: RunEvent): string {
  return canonicalJson(event as unknown as Json);
}
