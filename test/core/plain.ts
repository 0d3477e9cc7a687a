/**
 * Whether values are what JSON makes of them, so that a history can carry them. A part that was looked at is known: a
 * run shares most of its parts with the run before it, and copies of all of it took a third of what these tests cost.
 */
const known = new WeakSet();

/** Where the first part lies that JSON would change; undefined: there is none. */
export function notPlain(value: unknown, path = 'it'): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined;
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0) ? undefined : path;
  if (typeof value !== 'object') return path;
  if (known.has(value)) return undefined;
  const list = Array.isArray(value);
  if (Object.getPrototypeOf(value) !== (list ? Array.prototype : Object.prototype)) return path;
  if (Object.getOwnPropertySymbols(value).length > 0) return path;
  const keys = Object.keys(value);
  if (list && keys.length !== value.length) return path;
  for (const key of keys) {
    const found = notPlain(Reflect.get(value, key), `${path}.${key}`);
    if (found !== undefined) return found;
  }
  known.add(value);
  return undefined;
}
