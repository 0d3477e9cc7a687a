/** When something was at work, for whoever asks about a moment that has just passed. */
export interface WorkTimes {
  /** Gives what ends it. */
  begin(): () => void;
  /** `at`: ms since epoch. */
  covers(at: number): boolean;
  /** The same, and it was over in a moment, or had just begun. */
  coversBriefly(at: number): boolean;
}

const KEPT_MAX = 64;
/** Clocks of file systems are coarse. */
const BEFORE_MS = 20;
/** What was written last may reach the disk a little later. */
const BEHIND_MS = 250;
/** So seldom does a person save a file in so short a time that a second such save is none; times that touch are one. */
const BRIEF_MS = 2_000;

export function workTimes(clock: () => number = Date.now): WorkTimes {
  const past: Span[] = [];
  let open = 0;
  let since = 0;
  return {
    begin() {
      if (open === 0) since = clock();
      open += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        open -= 1;
        if (open > 0) return;
        const last = past.at(-1);
        const isNext = last !== undefined && since - last.to <= BEHIND_MS + BEFORE_MS;
        past.push({ from: isNext ? (past.pop()?.from ?? since) : since, to: clock() });
        if (past.length > KEPT_MAX) past.shift();
      };
    },
    covers: (at) => spans(at).length > 0,
    coversBriefly(at) {
      const found = spans(at);
      return found.length > 0 && found.every(({ from, to }) => to - from <= BRIEF_MS);
    },
  };

  /** What was at work then; of what still is, until now. */
  function spans(at: number): readonly Span[] {
    const now: Span[] = open > 0 ? [{ from: since, to: Math.max(at, clock()) }] : [];
    return [...past, ...now].filter(
      ({ from, to }) => at >= from - BEFORE_MS && at <= to + BEHIND_MS,
    );
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}
