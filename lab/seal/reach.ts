/** When pairs that are still to be measured can no longer change what their medians say. */

export interface Ratios {
  readonly base: readonly number[];
  readonly here: readonly number[];
}

interface Reach {
  readonly least: number;
  readonly most: number;
}

/** Between what the median of `here` over that of `base` will lie once `pairs` pairs are measured, whatever they show. */
export function reachOf({ base, here }: Ratios, pairs: number): Reach {
  const [of, is] = [medianWithin(base, pairs), medianWithin(here, pairs)];
  return { least: is.least / of.most, most: is.most / of.least };
}

/** `count` is odd: the median is one of them, also where that is without bound. */
function medianWithin(measured: readonly number[], count: number): Reach {
  const open = Math.max(0, count - measured.length);
  const medianWith = (value: number) =>
    [...measured, ...Array.from({ length: open }, () => value)].sort((a, b) => a - b)[
      (count - 1) / 2
    ]!;
  return { least: medianWith(0), most: medianWith(Infinity) };
}
