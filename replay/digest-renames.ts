/** Where two values differ in nothing but digests: which one stands for which. */
import { canonicalJson, type Json } from '../core/json/json.js';
import { isObject } from '../recording/history.js';

/** As it was recorded, and as it was replayed. */
export type DigestRename = readonly [recorded: string, replayed: string];

const DIGEST = /^[a-z]?[0-9a-f]{12,64}$/;

/** What the core calls a digest: shortened ones and those with a letter before them included. */
export function isDigest(value: Json | undefined): value is string {
  return typeof value === 'string' && DIGEST.test(value);
}

/** Digests that are names of values count as well: both sides have them in the order in which they came. Undefined: more differs. */
export function digestRenames(recorded: Json, replayed: Json): readonly DigestRename[] | undefined {
  const renames: DigestRename[] = [];
  return isRenamed(recorded, replayed, renames) ? renames : undefined;
}

function isRenamed(recorded: Json, replayed: Json, renames: DigestRename[]): boolean {
  if (Array.isArray(recorded) && Array.isArray(replayed)) {
    return (
      recorded.length === replayed.length &&
      recorded.every((one, index) => isRenamed(one, replayed[index]!, renames))
    );
  }
  if (isObject(recorded) && isObject(replayed)) {
    const gone = Object.keys(recorded).filter((name) => !Object.hasOwn(replayed, name));
    const come = Object.keys(replayed).filter((name) => !Object.hasOwn(recorded, name));
    const areDigests = gone.length === come.length && [...gone, ...come].every(isDigest);
    if (!areDigests) return false;
    const now = new Map(gone.map((name, index) => [name, come[index]!]));
    renames.push(...now);
    return Object.entries(recorded).every(([name, value]) =>
      isRenamed(value!, replayed[now.get(name) ?? name]!, renames),
    );
  }
  if (isDigest(recorded) && isDigest(replayed)) {
    if (recorded !== replayed) renames.push([recorded, replayed]);
    return true;
  }
  return canonicalJson(recorded) === canonicalJson(replayed);
}
