/**
 * Node from 24.19 on ends the process where an object of better-sqlite3 12 is collected while no JavaScript runs: the class
 * that it derives from (`node::ObjectWrap`, in the headers of Node) asks for an environment that is not there then. Version 13
 * of better-sqlite3 has another base, and needs Node 22.
 * Invariant: under such a Node no connection and no statement is ever collected.
 */

/** `version`: as `process.versions.node` has it. */
export function mustKeep(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 19);
}

export const KEEPS_ALL = mustKeep(process.versions.node);

const kept: object[] = [];

/** Gives what it was given. Closed connections and statements hold little. */
export function keep<T extends object>(one: T): T {
  if (KEEPS_ALL) kept.push(one);
  return one;
}
