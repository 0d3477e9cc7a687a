/**
 * How often somebody may ask: a bucket of tokens each, refilled with time.
 * Invariant: memory is bounded; under more names than fit, the longest silent is forgotten.
 */
const NAMES_MAX = 10_000;
const MINUTE_MS = 60_000;

export interface RateLimit {
  /** 0: go on; else how many seconds to wait. */
  take(name: string): number;
  /** Gives back what was taken for something that does not count. */
  giveBack(name: string): void;
}

export function rateLimit(perMinute: number, clock: () => number): RateLimit {
  const buckets = new Map<string, { readonly left: number; readonly at: number }>();
  return {
    take(name) {
      const now = clock();
      const known = buckets.get(name) ?? { left: perMinute, at: now };
      // A clock that was set back takes nothing away.
      const refilled = known.left + (Math.max(0, now - known.at) / MINUTE_MS) * perMinute;
      const there = Math.min(perMinute, refilled);
      const left = there >= 1 ? there - 1 : there;
      // Put in anew, the map's order is that of use.
      buckets.delete(name);
      buckets.set(name, { left, at: now });
      const oldest = buckets.size > NAMES_MAX ? buckets.keys().next().value : undefined;
      if (oldest !== undefined) buckets.delete(oldest);
      return there >= 1 ? 0 : Math.ceil(((1 - there) / perMinute) * (MINUTE_MS / 1_000));
    },
    giveBack(name) {
      const known = buckets.get(name);
      if (known === undefined) return;
      buckets.set(name, { ...known, left: Math.min(perMinute, known.left + 1) });
    },
  };
}

export interface Slots {
  /** Gives the slot back; undefined: none is free. */
  take(name: string): (() => void) | undefined;
}

/** How many things may be under way at a time, of one name and of all. */
export function slots(perName: number, inAll: number): Slots {
  const taken = new Map<string, number>();
  let all = 0;
  return {
    take(name) {
      const mine = taken.get(name) ?? 0;
      if (mine >= perName || all >= inAll) return undefined;
      taken.set(name, mine + 1);
      all += 1;
      let given = false;
      return () => {
        if (given) return;
        given = true;
        all -= 1;
        const left = (taken.get(name) ?? 1) - 1;
        if (left > 0) taken.set(name, left);
        else taken.delete(name);
      };
    },
  };
}
