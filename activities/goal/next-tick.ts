/**
 * The next time of a cron line in a time zone.
 * Invariants: a local time that does not exist is the next that does; one that exists twice is its first.
 */
import { Cron } from 'croner';

const DAY_MS = 86_400_000;
/** Local times that were over when they came: those of an hour that is passed a second time, minute by minute. */
const TRIES_MAX = 2_000;

/** The first tick after a time, both in ms since epoch; null: there is none. */
export function nextTick(
  { cron, timezone }: { readonly cron: string; readonly timezone: string },
  after: number,
): number | null {
  const clock = clockOf(timezone);
  // Local times are reckoned with as if they were those of UTC, where each is there once.
  const line = new Cron(cron, { timezone: 'UTC', paused: true });
  let local = after + clock.offset(after);
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const next = line.nextRun(new Date(local));
    if (next === null) return null;
    local = next.getTime();
    const at = instantOf(clock, local);
    if (at > after) return at;
  }
  return null;
}

interface Clock {
  /** Local time less UTC, ms. */
  offset(at: number): number;
}

function clockOf(timeZone: string): Clock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return {
    offset(at) {
      const parts = format.formatToParts(at);
      const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = [
        'year',
        'month',
        'day',
        'hour',
        'minute',
        'second',
      ].map((name) => Number(parts.find(({ type }) => type === name)?.value));
      const local = Date.UTC(year, month - 1, day, hour, minute, second);
      return local - Math.floor(at / 1_000) * 1_000;
    },
  };
}

/** When a clock on the wall shows this; the moment of the change for what it never shows. */
function instantOf({ offset }: Clock, local: number): number {
  const before = local - DAY_MS * 1.25;
  const after = local + DAY_MS * 1.25;
  const found = [offset(before), offset(after)]
    .map((each) => local - each)
    .filter((at) => at + offset(at) === local);
  if (found.length > 0) return Math.min(...found);
  let [low, high] = [before, after];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (middle + offset(middle) < local) low = middle;
    else high = middle;
  }
  return high;
}
