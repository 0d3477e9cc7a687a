/** Numbers as people write them, exact: no digit is rounded away, however many there are. */
import type { Json } from '../core/json/json.js';

/** `units / 10 ** scale`, without trailing zeros. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

const PLAIN = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?$/;
const EXPONENT = /^(-?)(\d)(?:\.(\d+))?e([+-]\d{1,3})$/;
const SCALE_MAX = 400;

/** Of a number, or a text that is one. */
export function decimalOf(value: Json | undefined): Decimal | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const text = String(value).trim();
  const [, sign = '', whole, fraction = ''] = PLAIN.exec(text) ?? [];
  if (whole !== undefined) return lean(BigInt(`${sign}${whole}${fraction}`), fraction.length);
  // As JavaScript writes very large and very small numbers.
  const [, minus = '', first, rest = '', power] = EXPONENT.exec(text) ?? [];
  if (typeof value !== 'number' || first === undefined) return undefined;
  return shifted(lean(BigInt(`${minus}${first}${rest}`), rest.length), Number(power));
}

/** The same with the point so many places further to the right. */
export function shifted({ units, scale }: Decimal, places: number): Decimal {
  const left = scale - places;
  return left >= 0 ? lean(units, left) : lean(units * 10n ** BigInt(-left), 0);
}

function lean(units: bigint, scale: number): Decimal {
  let [rest, left] = [units, Math.min(scale, SCALE_MAX)];
  while (left > 0 && rest % 10n === 0n) [rest, left] = [rest / 10n, left - 1];
  return { units: rest, scale: left };
}

export function isSameDecimal(one: Decimal, other: Decimal): boolean {
  return one.units === other.units && one.scale === other.scale;
}

/** Below 0: the first one is the smaller one. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  const scale = Math.max(one.scale, other.scale);
  const gap = at(one, scale) - at(other, scale);
  if (gap === 0n) return 0;
  return gap < 0n ? -1 : 1;
}

/** One is more than so many times the other, or they differ in sign. */
export function isBeyondFactor(one: Decimal, other: Decimal, factor: bigint): boolean {
  const scale = Math.max(one.scale, other.scale);
  const [a, b] = [at(one, scale), at(other, scale)];
  if (a < 0n !== b < 0n) return a !== b;
  const [small, large] = size(a) < size(b) ? [size(a), size(b)] : [size(b), size(a)];
  return large > small * factor;
}

function at({ units, scale }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - scale);
}

function size(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** `1,250.00`: with at least so many digits behind the point. */
export function decimalText({ units, scale }: Decimal, digitsMin: number): string {
  const digits = size(units)
    .toString()
    .padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).padEnd(digitsMin, '0');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${units < 0n ? '-' : ''}${grouped}${fraction === '' ? '' : `.${fraction}`}`;
}

/** As arguments have it: no grouping. */
export function plainText(decimal: Decimal): string {
  return decimalText(decimal, 0).replaceAll(',', '');
}
