/** What two compared runs show of each: their paths from the first difference on, and the first decision that differs. */
import type { RunEvent } from '../core/state/event.js';
import type { PathEntry } from './path.js';
import { entryReader, type DiffOptions } from './sketch.js';
import type { FoldStep } from './steps.js';
import type { PathsCompared } from './verdict.js';

/** What of a run is shown. */
export interface Picked {
  /** By their places. */
  readonly entries: ReadonlyMap<number, PathEntry>;
  /** Numbers of steps by those of the events that they emitted. */
  readonly steps: ReadonlyMap<number, number>;
}

export const NOTHING_PICKED: Picked = { entries: new Map(), steps: new Map() };

/** Finds what is shown of a run, whose events and then steps come one by one. */
export interface Picker {
  event(event: RunEvent): void;
  /** Behind the last event. */
  end(): void;
  step(step: Pick<FoldStep, 'step' | 'events'>): void;
  readonly picked: Picked;
}

export type SideOf = 'a' | 'b';

/** Undefined: nothing is. */
export function pickerOf(
  { first, decision, rows }: PathsCompared,
  side: SideOf,
  options: DiffOptions,
): Picker | undefined {
  if (first === undefined) return undefined;
  const wanted = new Set([first, decision?.[side], ...rows.map((row) => row[side])]);
  const entries = new Map<number, PathEntry>();
  const steps = new Map<number, number>();
  const shown = new Set<number>();
  const reader = entryReader(options, (entry, index) => {
    if (!wanted.has(index)) return;
    entries.set(index, entry);
    shown.add(entry.seq);
  });
  return {
    picked: { entries, steps },
    event: reader.event,
    end: reader.end,
    step({ step, events: [from, to] }) {
      for (let seq = from; seq < to; seq += 1) if (shown.has(seq)) steps.set(seq, step);
    },
  };
}
