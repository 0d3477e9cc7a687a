/**
 * What a worker waits for, and how often it has passed by.
 * Invariant: each entry comes true once, at its own passage, counted from when it was added.
 */
export interface WatchEntry {
  readonly id: number;
  readonly what: string;
  readonly runId?: string | undefined;
  /** Which passage, from 0. */
  readonly nth?: number | undefined;
}

export interface WatchList<Entry extends WatchEntry> {
  add(entry: Entry): void;
  /** One of these things passes by; gives the entry that comes true, which is then gone. */
  passed(whats: readonly string[], runId: string): Entry | undefined;
}

export function watchList<Entry extends WatchEntry>(): WatchList<Entry> {
  let waiting: { readonly entry: Entry; left: number }[] = [];
  return {
    add: (entry) => void waiting.push({ entry, left: entry.nth ?? 0 }),
    passed(whats, runId) {
      const matching = waiting.filter(
        ({ entry }) =>
          whats.includes(entry.what) && (entry.runId === undefined || entry.runId === runId),
      );
      const due = matching.find((one) => one.left === 0);
      for (const one of matching) one.left = Math.max(0, one.left - 1);
      waiting = waiting.filter((one) => one !== due);
      return due?.entry;
    },
  };
}
