/** Kinds of steps: what they received, which rules fired, what they began. Pure. */
import type { StepsIndex } from '../data/api-types.js';

export type StepLine = StepsIndex['steps'][number];

export interface Kinds {
  readonly name: string;
  readonly kinds: readonly string[];
}

/** Of all steps, in the order in which they were met. */
export function kindsOf(steps: readonly StepLine[]): readonly Kinds[] {
  const groups = [
    { name: 'Received', of: ({ inputs }: StepLine) => inputs.map(({ type }) => type) },
    { name: 'Rule', of: ({ rules }: StepLine) => rules },
    { name: 'Began', of: ({ effects }: StepLine) => effects.map(({ kind }) => kind) },
  ];
  return groups.map(({ name, of }) => ({ name, kinds: [...new Set(steps.flatMap(of))] }));
}

/** '' is any kind. */
export function isOfKind(step: StepLine, kind: string): boolean {
  if (kind === '') return true;
  const { inputs, rules, effects } = step;
  return (
    rules.includes(kind) ||
    inputs.some(({ type }) => type === kind) ||
    effects.some((effect) => effect.kind === kind)
  );
}

/** The nearest step of the kind before (-1) or behind (1) another one; undefined: there is none. */
export function neighbour(
  steps: readonly StepLine[],
  from: number,
  { kind, way }: { readonly kind: string; readonly way: -1 | 1 },
): number | undefined {
  for (let step = from + way; step >= 1 && step <= steps.length; step += way) {
    if (isOfKind(steps[step - 1]!, kind)) return step;
  }
  return undefined;
}

export interface WaysFrom {
  /** Of the kind; undefined: there is none. */
  readonly previous: number | undefined;
  readonly next: number | undefined;
  /** These, and those of any kind beside the step. */
  readonly likely: readonly number[];
}

export function waysFrom(steps: readonly StepLine[], from: number, kind: string): WaysFrom {
  const to = (way: -1 | 1, of: string) => neighbour(steps, from, { kind: of, way });
  const [previous, next] = [to(-1, kind), to(1, kind)];
  const all = [next, previous, to(1, ''), to(-1, '')];
  return { previous, next, likely: [...new Set(all)].filter((step) => step !== undefined) };
}
