/** Interleaved pairs: one measurement of each side after the other, so that both meet the same machine. */
import { median, quantile } from './statistics.js';

export interface Pair {
  readonly bare: number;
  readonly held: number;
}

export interface PairPlan {
  readonly pairs: number;
  /** Of the figures, for the lines that are said. */
  readonly unit: string;
  readonly bare: (pair: number) => Promise<number>;
  readonly held: (pair: number) => Promise<number>;
  readonly say: (line: string) => void;
}

/** Median and middle half: what half of the measurements lie between. */
export interface Spread {
  readonly median: number;
  readonly quartiles: readonly [number, number];
}

export interface PairedFigures {
  readonly unit: string;
  readonly pairs: readonly Pair[];
  readonly bare: Spread;
  readonly held: Spread;
  /** Of each pair by itself: held divided by bare, held minus bare. */
  readonly ratio: Spread;
  readonly difference: Spread;
}

export async function measurePairs(plan: PairPlan): Promise<PairedFigures> {
  const pairs: Pair[] = [];
  for (let index = 0; index < plan.pairs; index += 1) {
    // Whoever goes first finds the machine as the other left it: take turns.
    const heldFirst = index % 2 === 1;
    const first = await (heldFirst ? plan.held : plan.bare)(index);
    const second = await (heldFirst ? plan.bare : plan.held)(index);
    const pair = heldFirst ? { bare: second, held: first } : { bare: first, held: second };
    pairs.push(pair);
    plan.say(`pair ${index + 1}: bare ${shown(pair.bare)}, held ${shown(pair.held)} ${plan.unit}`);
  }
  return figuresOf(pairs, plan.unit);
}

/** The figures of measurements that were taken on the way. */
export function figuresOf(pairs: readonly Pair[], unit: string): PairedFigures {
  return {
    unit,
    pairs,
    bare: spreadOf(pairs.map(({ bare }) => bare)),
    held: spreadOf(pairs.map(({ held }) => held)),
    ratio: spreadOf(pairs.map(({ bare, held }) => held / bare)),
    difference: spreadOf(pairs.map(({ bare, held }) => held - bare)),
  };
}

export function spreadOf(values: readonly number[]): Spread {
  return {
    median: median(values),
    quartiles: [quantile(values, 0.25), quantile(values, 0.75)],
  };
}

export function figureLines(what: string, figures: PairedFigures): readonly string[] {
  const { unit } = figures;
  return [
    `${what}: bare ${spreadText(figures.bare)} ${unit}, held ${spreadText(figures.held)} ${unit}`,
    `${what}: ratio ${spreadText(figures.ratio)}, difference ${spreadText(figures.difference)} ${unit}`,
  ];
}

export function spreadText({ median: middle, quartiles: [low, high] }: Spread): string {
  return `${shown(middle)} (${shown(low)} to ${shown(high)})`;
}

/** Three digits that mean something, whatever the size. */
function shown(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
