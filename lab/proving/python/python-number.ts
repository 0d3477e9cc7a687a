/**
 * The little of Python's arithmetic that the recorded outputs show: mixing `int` and `float`,
 * rounding to cents, and the shortest decimal text of a float.
 */
import type { PyNumber } from './python-value.js';

export function add(left: PyNumber, right: PyNumber): PyNumber {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left + right;
  return Number(left) + Number(right);
}

export function subtract(left: PyNumber, right: PyNumber): PyNumber {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left - right;
  return Number(left) - Number(right);
}

export function multiply(left: PyNumber, right: PyNumber): PyNumber {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left * right;
  return Number(left) * Number(right);
}

/** `sum(values)`: 0 for none. */
export function sumOf(values: readonly PyNumber[]): PyNumber {
  return values.reduce(add, 0n);
}

export function negate(value: PyNumber): PyNumber {
  return typeof value === 'bigint' ? -value : -value;
}

export function absolute(value: PyNumber): PyNumber {
  if (typeof value === 'bigint') return value < 0n ? -value : value;
  return Math.abs(value);
}

/** `round(value, 2)`: exact ties go to the even cent, unlike `toFixed`; an `int` stays an `int`. */
export function roundToCents(value: PyNumber): PyNumber {
  if (typeof value === 'bigint' || !Number.isFinite(value) || Math.abs(value) >= 1e15) return value;
  // `toFixed` would lose the sign of a negative zero.
  if (value === 0) return value;
  // Only odd eighths lie exactly between two cents in binary.
  const eighths = value * 8;
  if (!Number.isInteger(eighths) || eighths % 2 === 0) return Number(value.toFixed(2));
  const below = Math.floor(value * 100);
  return (below % 2 === 0 ? below : below + 1) / 100;
}

/** `str(value)`. */
export function formatNumber(value: PyNumber): string {
  return typeof value === 'bigint' ? String(value) : formatFloat(value);
}

/** `str(value)` of a Python float. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  // Python and JavaScript find the same shortest digits but change notation at other sizes.
  if (exponent >= 16 || exponent < -4) {
    const sign = exponent < 0 ? '-' : '+';
    return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  if (exponent < 0) return fixedSmall(value, digits, exponent);
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}

function fixedSmall(value: number, digits: string, exponent: number): string {
  const bare = digits.replace('-', '').replace('.', '');
  return `${value < 0 ? '-' : ''}0.${'0'.repeat(-exponent - 1)}${bare}`;
}
