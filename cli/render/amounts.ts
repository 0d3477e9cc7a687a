/** Money, tokens and time as people read them. Exact: integer arithmetic, nothing is rounded away silently. */
import type { Counters } from '../../core/state/result.js';
import { plural } from '../../pure/plural.js';

const MICRO = 1_000_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `$0.0123`: integer micro-USD, at least cents, no digit lost. */
export function usdText(microUsd: number): string {
  const whole = Math.trunc(Math.abs(microUsd) / MICRO);
  const digits = String(Math.abs(Math.trunc(microUsd)) % MICRO).padStart(6, '0');
  const fraction = digits.replace(/0+$/, '').padEnd(2, '0');
  return `${microUsd < 0 ? '-' : ''}$${whole.toLocaleString('en-US')}.${fraction}`;
}

/** `850 ms`, `12.3 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`. */
export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return 'unknown';
  const value = Math.max(0, Math.round(ms));
  if (value < SECOND_MS) return `${value} ms`;
  if (value < MINUTE_MS) return `${(Math.floor(value / 100) / 10).toFixed(1)} s`;
  if (value < HOUR_MS) return twoUnits(value, [MINUTE_MS, 'min'], [SECOND_MS, 's']);
  if (value < DAY_MS) return twoUnits(value, [HOUR_MS, 'h'], [MINUTE_MS, 'min']);
  return twoUnits(value, [DAY_MS, 'd'], [HOUR_MS, 'h']);
}

type Unit = readonly [ms: number, name: string];

function twoUnits(value: number, large: Unit, small: Unit): string {
  const first = Math.floor(value / large[0]);
  const second = Math.floor((value % large[0]) / small[0]);
  return second === 0 ? `${first} ${large[1]}` : `${first} ${large[1]} ${second} ${small[1]}`;
}

/** What a run has spent: money, tokens, calls, active time. */
export function costLine(counters: Counters): string {
  const { usage } = counters;
  const read = usage.input + usage.cacheRead + usage.cacheWrite;
  const cached = usage.cacheRead > 0 ? ` (${countText(usage.cacheRead)} cached)` : '';
  return [
    usdText(counters.costMicroUsd),
    `${plural(read, 'token')} in${cached}, ${countText(usage.output)} out`,
    plural(counters.modelCalls, 'model call'),
    plural(counters.toolCalls, 'tool call'),
    `${durationText(counters.activeMs)} active`,
    ...(counters.waitingMs > 0 ? [`${durationText(counters.waitingMs)} waiting`] : []),
  ].join(' · ');
}

export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** `12:20:03`, this machine's time. */
export function timeText(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

/** `2026-11-22 12:20:03 +01:00`: this machine's time, unmistakable elsewhere. */
export function dateTimeText(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return 'never';
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(two).join('-');
  const offset = -date.getTimezoneOffset();
  const sign = offset < 0 ? '-' : '+';
  const hours = two(Math.trunc(Math.abs(offset) / 60));
  return `${day} ${timeText(at)} ${sign}${hours}:${two(Math.abs(offset) % 60)}`;
}

/** `in 23 h 59 min`, or `4 min ago`. */
export function relativeText(at: number, now: number): string {
  return at >= now ? `in ${durationText(at - now)}` : `${durationText(now - at)} ago`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
