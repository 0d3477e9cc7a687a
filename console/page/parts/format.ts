/** Amounts, times and durations as people read them. */
export { plural } from '../../../pure/plural.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const UNITS: readonly (readonly [size: number, name: string])[] = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'min'],
  [SECOND, 's'],
];

/** The two largest units: `2 d 3 h`, `45 s`, `320 ms`. */
export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  const first = UNITS.findIndex(([size]) => ms >= size);
  const parts: string[] = [];
  let rest = ms;
  for (const [size, name] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.join(' ');
}

/** Of `at` as seen at `now`, both ms since epoch: `in 3 h 5 min`, `2 min ago`. */
export function relative(at: number, now: number): string {
  const gap = at - now;
  if (Math.abs(gap) < SECOND) return 'now';
  const text = duration(Math.floor(Math.abs(gap) / SECOND) * SECOND).replace('.0 s', ' s');
  return gap > 0 ? `in ${text}` : `${text} ago`;
}

const CLOCK = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });

/** With its zone: people of several places look at one question. */
export function dateTime(at: number): string {
  return CLOCK.format(at);
}

export function exactTime(at: number): string {
  return EXACT.format(at);
}

/** US dollars of millionths: small costs keep their digits. */
export function cost(microUsd: number): string {
  const dollars = microUsd / 1_000_000;
  const digits = dollars >= 1 || microUsd % 10_000 === 0 ? 2 : 4;
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `$${dollars.toLocaleString('en', format)}`;
}

export function whole(count: number): string {
  return count.toLocaleString('en');
}

/** `awaiting_approval` as words. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}
