/** Finds any of these texts; of two that begin alike the longer one. */
export function anyOf(texts: readonly string[]): RegExp {
  const sorted = texts.toSorted((one, other) => other.length - one.length);
  return new RegExp(
    sorted.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'),
    'g',
  );
}
