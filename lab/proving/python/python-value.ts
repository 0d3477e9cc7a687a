/**
 * Values as the recorded tools saw them. The recordings were made by Python programs, whose JSON
 * keeps the order of keys and tells 30 from 30.0; plain JavaScript objects keep neither (keys that
 * look like array indices move to the front). Hence maps for objects, bigint for Python's `int`
 * and number for its `float`.
 */

export type PyNumber = bigint | number;
export type PyObject = Map<string, PyValue>;
export type PyValue = null | boolean | string | PyNumber | PyValue[] | PyObject;

/** Deepest nesting accepted from outside. */
export const NESTING_MAX = 64;

/** Python's name of a value's type, as its error messages print it. */
export function typeName(value: PyValue): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'string':
      return 'str';
    case 'bigint':
      return 'int';
    case 'number':
      return 'float';
    default:
      return 'dict';
  }
}

/** Turns parsed JSON into a Python value: a whole number becomes an `int`, keys keep their order. */
export function fromJson(value: unknown, depth = 0): PyValue {
  if (depth > NESTING_MAX) throw new RangeError(`nested deeper than ${NESTING_MAX} levels`);
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((entry) => fromJson(entry, depth + 1));
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(([key, entry]): [string, PyValue] => [
      key,
      fromJson(entry, depth + 1),
    ]);
    return new Map(entries);
  }
  throw new TypeError(`a ${typeof value} is not JSON`);
}

/** The same for the arguments of a call. */
export function objectFromJson(record: Readonly<Record<string, unknown>>): PyObject {
  return new Map(Object.entries(record).map(([key, value]) => [key, fromJson(value)]));
}

/** A deep copy that shares nothing with the original. */
export function cloneValue<T extends PyValue>(value: T): T;
export function cloneValue(value: PyValue): PyValue {
  if (Array.isArray(value)) return value.map((entry) => cloneValue(entry));
  if (value instanceof Map) {
    return new Map([...value].map(([key, entry]) => [key, cloneValue(entry)]));
  }
  return value;
}

/** Python's `==`: the order of keys does not matter, and 30 equals 30.0. */
export function sameValue(left: PyValue, right: PyValue): boolean {
  if (isNumber(left) && isNumber(right)) return Number(left) === Number(right);
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((entry, index) => sameValue(entry, right[index] ?? null))
    );
  }
  if (left instanceof Map) {
    if (!(right instanceof Map) || left.size !== right.size) return false;
    for (const [key, entry] of left) {
      const other = right.get(key);
      if (other === undefined || !sameValue(entry, other)) return false;
    }
    return true;
  }
  return left === right;
}

/** Whether the value is one of Python's two number types used here. */
export function isNumber(value: PyValue | undefined): value is PyNumber {
  return typeof value === 'number' || typeof value === 'bigint';
}
