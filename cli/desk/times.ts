/** Moments and spans of time on the command line. */
import { parseDuration } from '../terminal/duration.js';
import { usage } from '../usage.js';

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** A moment: how long ago (`7d`, `90m`), or a date or time in ISO 8601; ms since epoch. */
export function moment(name: string) {
  return (text: string): number => {
    const wanted = text.trim();
    const at = TIMESTAMP.test(wanted) && isDay(wanted.slice(0, 10)) ? Date.parse(wanted) : NaN;
    if (!Number.isNaN(at)) return at;
    const ago = /^\d+(\.\d+)?\s*[a-z]+$/i.test(wanted) ? parseDuration(wanted) : undefined;
    if (ago !== undefined) return Date.now() - ago;
    throw usage(
      `${name} takes how long ago (7d, 90m) or a time (2026-11-01, 2026-11-01T09:30Z), not "${text.slice(0, 40)}".`,
    );
  };
}

/** `Date` takes 30 February as 2 March. */
function isDay(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** A span, in ms. */
export function span(name: string) {
  return (text: string): number => {
    const ms = parseDuration(text);
    if (ms !== undefined) return ms;
    throw usage(`${name} takes a duration such as 90s or 5m, not "${text.slice(0, 40)}".`);
  };
}
