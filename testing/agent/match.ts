/**
 * Whether a value has at least what is expected of it. Expected values may hold regular expressions, predicates, and what
 * test runners call asymmetric matchers (`expect.any(String)`).
 */
const DEPTH_MAX = 64;

export function isMatch(expected: unknown, actual: unknown, depth = 0): boolean {
  if (depth > DEPTH_MAX) return false;
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual);
  if (typeof expected === 'function')
    return (expected as (value: unknown) => unknown)(actual) === true;
  // Unlike `test`, a search begins at the start whatever the flags and the uses before.
  if (expected instanceof RegExp) return typeof actual === 'string' && actual.search(expected) >= 0;
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual);
  if (typeof actual !== 'object' || actual === null) return false;
  if (Array.isArray(expected)) {
    const others: unknown = actual;
    return (
      Array.isArray(others) &&
      others.length === expected.length &&
      expected.every((one: unknown, index) => isMatch(one, others[index], depth + 1))
    );
  }
  return Object.entries(expected).every(
    ([name, one]: [string, unknown]) =>
      Object.hasOwn(actual, name) &&
      isMatch(one, (actual as { readonly [name: string]: unknown })[name], depth + 1),
  );
}

interface Asymmetric {
  asymmetricMatch(actual: unknown): boolean;
  /** How a test runner tells it: `Any<String>`. */
  toAsymmetricMatcher?(): string;
}

export function isAsymmetric(value: unknown): value is Asymmetric {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { asymmetricMatch?: unknown }).asymmetricMatch === 'function'
  );
}
