/** When something was at work, for whoever asks about a moment that has just passed. */
export interface WorkTimes {
  /** Gives what ends it. */
  begin(): () => void;
  /** `at`: ms since epoch. */
  covers(at: number): boolean;
}

const KEPT_MAX = 64;
/** Clocks of file systems are coarse. */
const BEFORE_MS = 20;
/** What was written last may reach the disk a little later. */
const BEHIND_MS = 250;

export function workTimes(clock: () => number = Date.now): WorkTimes {
  const past: { readonly from: number; readonly to: number }[] = [];
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
        past.push({ from: since, to: clock() });
        if (past.length > KEPT_MAX) past.shift();
      };
    },
    covers: (at) =>
      (open > 0 && at >= since - BEFORE_MS) ||
      past.some(({ from, to }) => at >= from - BEFORE_MS && at <= to + BEHIND_MS),
  };
}
