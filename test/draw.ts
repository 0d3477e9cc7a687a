/** A choice that a seed repeats. */

/** Up to `count` of them, in an order that the seed decides. */
export function drawn<T>(all: readonly T[], count: number, seed: number): readonly T[] {
  let state = seed >>> 0;
  const weighted = all.map((one) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return { one, weight: state };
  });
  const order = weighted.toSorted((a, b) => a.weight - b.weight);
  return order.slice(0, count).map(({ one }) => one);
}

/** Every so manieth number below `end`; which ones, the seed decides. */
export function everyFew(end: number, apart: number, seed: number): readonly number[] {
  const places: number[] = [];
  for (let at = Math.abs(seed) % apart; at < end; at += apart) places.push(at);
  return places;
}
