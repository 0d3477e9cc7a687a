/** What differs between two values, place by place. Pure. */

/** @typedef {import('./data/api-types.ts').Json} Json */
/**
 * @typedef {object} Change
 * @property {string} path
 * @property {Json} [before] Absent: there was nothing.
 * @property {Json} [after] Absent: there is nothing any more.
 */

const CHANGES_MAX = 100;
const DEPTH_MAX = 20;

/**
 * @param {Json | undefined} before
 * @param {Json | undefined} after
 * @returns {Change[]}
 */
export function changesBetween(before, after) {
  /** @type {Change[]} */
  const found = [];
  collect({ path: '', before, after }, found);
  return found;
}

/**
 * @param {Change} place
 * @param {Change[]} found
 */
function collect({ path, before, after }, found) {
  if (found.length >= CHANGES_MAX || isSame(before, after)) return;
  const depth = path.split('.').length;
  if (!isObject(before) || !isObject(after) || depth > DEPTH_MAX) {
    found.push({
      path: path === '' ? 'everything' : path,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    });
    return;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const inside = path === '' ? name : `${path}.${name}`;
    collect({ path: inside, before: own(before, name), after: own(after, name) }, found);
  }
}

/**
 * @param {{ [key: string]: Json }} value
 * @param {string} name
 */
function own(value, name) {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/**
 * @param {Json | undefined} value
 * @returns {value is { [key: string]: Json }}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The order of names does not matter.
 * @param {Json | undefined} one
 * @param {Json | undefined} other
 * @returns {boolean}
 */
export function isSame(one, other) {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => isSame(own(one, name), own(other, name)))
  );
}
