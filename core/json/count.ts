/** Numbers from outside. */

/** A number from outside that can be reckoned with. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
