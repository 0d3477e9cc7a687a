/** Limits that JSON arguments must keep whatever their schema says. */

const DEPTH_MAX = 64;
const VALUES_MAX = 100_000;

interface Place {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

/** The first reason why these arguments cannot be used, or undefined. Iterative: depth comes from outside. */
export function findArgumentDefect(args: unknown): string | undefined {
  const queue: Place[] = [{ value: args, path: '', depth: 0 }];
  for (let seen = 0; queue.length > 0; seen += 1) {
    const place = queue.pop();
    if (place === undefined) break;
    if (seen > VALUES_MAX) return `more than ${VALUES_MAX} values`;
    const { value, path, depth } = place;
    if (typeof value === 'number') {
      const defect = numberDefect(value);
      if (defect !== undefined) return `${path === '' ? 'the value' : path} is ${defect}`;
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= DEPTH_MAX) return `more than ${DEPTH_MAX} levels deep`;
    for (const [name, inner] of Object.entries(value)) {
      queue.push({ value: inner, path: path === '' ? name : `${path}.${name}`, depth: depth + 1 });
    }
  }
  return undefined;
}

function numberDefect(value: number): string | undefined {
  if (!Number.isFinite(value)) return 'not a finite number';
  // Beyond it two different integers read as the same number, so nobody approved this one.
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return 'an integer too large to be exact';
  return undefined;
}
