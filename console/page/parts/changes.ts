/** What differs between two values, place by place. Pure. */
import type { Json } from '../data/api-types.js';

export interface Change {
  readonly path: string;
  /** Absent: there was nothing. */
  readonly before?: Json;
  /** Absent: there is nothing any more. */
  readonly after?: Json;
}

interface Compared {
  readonly path: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

const CHANGES_MAX = 100;
const DEPTH_MAX = 20;

export function changesBetween(
  before: Json | undefined,
  after: Json | undefined,
): readonly Change[] {
  const found: Change[] = [];
  collect({ path: '', before, after }, found);
  return found;
}

function collect({ path, before, after }: Compared, found: Change[]): void {
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

interface JsonObject {
  readonly [key: string]: Json;
}

function own(value: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The order of names does not matter. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
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
