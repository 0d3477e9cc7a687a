/** Readable durations and amounts for definitions; inside the runtime all is integer ms and micro-USD. */
import { HoldfastError } from '../core/state/errors.js';
import { shown } from './known-fields.js';

const MICRO = 1_000_000;

/** Seconds as milliseconds. Errors, as of the others: InvalidConfig, for what is no number. */
export function seconds(count: number): number {
  return Math.round(numberIn('seconds', count) * 1_000);
}

/** Minutes as milliseconds. */
export function minutes(count: number): number {
  return seconds(numberIn('minutes', count) * 60);
}

/** Hours as milliseconds: `expiresInMs: hours(24)`. */
export function hours(count: number): number {
  return minutes(numberIn('hours', count) * 60);
}

/** Days as milliseconds. */
export function days(count: number): number {
  return hours(numberIn('days', count) * 24);
}

/** US dollars as integer micro-USD. Errors: InvalidConfig, also for less than a millionth of a dollar. */
export function usd(dollars: number): number {
  return Math.round(numberIn('usd', dollars, 1 / MICRO) * MICRO);
}

/** JavaScript would reckon with a text; less than `least` would be nothing without a word. */
function numberIn(call: string, value: unknown, least = -Infinity): number {
  if (typeof value === 'number' && (value === 0 || value >= least)) return value;
  const wanted = call === 'usd' ? `0 or a number from ${least}` : 'a number';
  throw new HoldfastError('InvalidConfig', `${call} takes ${wanted}, and got ${shown(value)}.`, {
    hint: `Write it as ${call}(${call === 'usd' ? 0.25 : 24}).`,
  });
}
