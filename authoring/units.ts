/** Readable durations and amounts for definitions; inside the runtime all is integer ms and micro-USD. */

/** Seconds as milliseconds. */
export function seconds(count: number): number {
  return Math.round(count * 1_000);
}

/** Minutes as milliseconds. */
export function minutes(count: number): number {
  return seconds(count * 60);
}

/** Hours as milliseconds: `expiresInMs: hours(24)`. */
export function hours(count: number): number {
  return minutes(count * 60);
}

/** Days as milliseconds. */
export function days(count: number): number {
  return hours(count * 24);
}

/** US dollars as integer micro-USD. */
export function usd(dollars: number): number {
  return Math.round(dollars * 1_000_000);
}
