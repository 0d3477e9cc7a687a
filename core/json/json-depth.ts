/** How deeply a value nests; values from outside may nest deeper than a call stack. */
export const SHAPE_DEPTH_MAX = 64;

/** Nesting depth, 0 for a scalar; stops counting just above SHAPE_DEPTH_MAX. */
export function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  let depth = 0;
  while (level.length > 0 && depth <= SHAPE_DEPTH_MAX) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue;
      // One by one: spreading a long array into arguments overflows the stack.
      for (const inner of Object.values(one)) next.push(inner);
    }
    if (level.every((one) => typeof one !== 'object' || one === null)) return depth;
    level = next;
    depth += 1;
  }
  return depth;
}
