/** Where two JSON values differ. */
import { canonicalJson, type Json } from '../core/json/json.js';
import { isObject } from '../recording/history.js';

export interface ValueDifference {
  /** For example `input[0].call.args.amount`; '' is the value itself. */
  readonly path: string;
  /** Undefined: there is nothing at this place. */
  readonly recorded: Json | undefined;
  readonly replayed: Json | undefined;
}

const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/;

/** The first difference, in the order of the names of the recorded value; undefined when they are equal. */
export function firstDifference(
  recorded: Json | undefined,
  replayed: Json | undefined,
  path = '',
): ValueDifference | undefined {
  if (Array.isArray(recorded) && Array.isArray(replayed)) {
    const length = Math.max(recorded.length, replayed.length);
    for (let index = 0; index < length; index += 1) {
      const found = firstDifference(recorded[index], replayed[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isObject(recorded) && isObject(replayed)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(replayed)])) {
      const found = firstDifference(recorded[name], replayed[name], pathWithin(path, name));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return isEqual(recorded, replayed) ? undefined : { path, recorded, replayed };
}

/** The path of what stands under a name of the value at `path`. */
export function pathWithin(path: string, name: string): string {
  if (!PLAIN_NAME.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function isEqual(one: Json | undefined, other: Json | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return canonicalJson(one) === canonicalJson(other);
}
