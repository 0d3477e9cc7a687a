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
  const amount = numberIn('usd', dollars);
  if (amount !== 0 && Math.abs(amount) < 1 / MICRO) {
    throw new HoldfastError(
      'InvalidConfig',
      `usd(${amount}) is less than a millionth of a dollar, the smallest amount that there is.`,
      { hint: 'Give 0.000001 or more, or 0.' },
    );
  }
  return Math.round(amount * MICRO);
}

/** JavaScript would reckon with a text. */
function numberIn(call: string, value: unknown): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new HoldfastError('InvalidConfig', `${call} takes a number, and got ${shown(value)}.`, {
    hint: `Write it without quotes, as in ${call}(24).`,
  });
}
