/** Amounts, times and durations as people read them. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** @type {readonly (readonly [size: number, name: string])[]} */
const UNITS = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'min'],
  [SECOND, 's'],
];

/**
 * The two largest units: `2 d 3 h`, `45 s`, `320 ms`.
 * @param {number} ms
 */
export function duration(ms) {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  const first = UNITS.findIndex(([size]) => ms >= size);
  const parts = [];
  let rest = ms;
  for (const [size, name] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.join(' ');
}

/**
 * `in 3 h 5 min`, `2 min ago`
 * @param {number} at
 * @param {number} now
 */
export function relative(at, now) {
  const gap = at - now;
  if (Math.abs(gap) < SECOND) return 'now';
  const whole = duration(Math.floor(Math.abs(gap) / SECOND) * SECOND).replace('.0 s', ' s');
  return gap > 0 ? `in ${whole}` : `${whole} ago`;
}

const CLOCK = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const EXACT = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'long',
});

/** @param {number} at */
export function dateTime(at) {
  return CLOCK.format(at);
}

/** @param {number} at */
export function exactTime(at) {
  return EXACT.format(at);
}

/**
 * US dollars of millionths: small costs keep their digits.
 * @param {number} microUsd
 */
export function cost(microUsd) {
  const dollars = microUsd / 1_000_000;
  const digits = dollars >= 1 || microUsd % 10_000 === 0 ? 2 : 4;
  return `$${dollars.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** @param {number} count */
export function whole(count) {
  return count.toLocaleString('en');
}

/**
 * @param {number} count
 * @param {string} noun
 */
export function plural(count, noun) {
  return `${whole(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * `awaiting_approval` as words.
 * @param {string} name
 */
export function words(name) {
  return name.replaceAll('_', ' ');
}
