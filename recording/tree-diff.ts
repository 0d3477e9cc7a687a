/** Two trees of runs compared: the runs that were named, and those below them that have the same place. */
import { diffOf, type ComparedRun, type Diff, type DiffOptions } from './diff.js';

export interface ComparedTree extends ComparedRun {
  /** Runs below it, each with its events and steps. */
  readonly below?: readonly ComparedRun[];
}

export type MemberDiff = {
  /** What its id has behind that of the root: `a1`, `c2:a1`. */
  readonly run: string;
} & (
  | Diff
  /** Only one side has such a run. */
  | { readonly equal: false; readonly differsIn: 'presence'; readonly why: string }
);

/** The roots compared; `equal` only if the runs below are equal too. */
export interface TreeDiff extends Diff {
  /** Absent: neither side has runs below. */
  readonly below?: readonly MemberDiff[];
}

export function treeDiffOf(a: ComparedTree, b: ComparedTree, options: DiffOptions): TreeDiff {
  return treeDiffBy([a, b], (one, other) => diffOf(one, other, options));
}

/** Anything of the runs by which they are compared. */
export interface TreeOf<Run extends { readonly runId: string }> {
  readonly runId: string;
  readonly below?: readonly Run[];
}

/** `compare` is asked for the roots, and for runs below that have the same place. */
export function treeDiffBy<Run extends { readonly runId: string }>(
  [a, b]: readonly [Run & TreeOf<Run>, Run & TreeOf<Run>],
  compare: (a: Run, b: Run) => Diff,
): TreeDiff {
  const root = compare(a, b);
  const places = placesOf(a, b);
  if (places.length === 0) return root;
  const below = places.map((place) => memberDiff(place, compare));
  const differing = below.filter(({ equal }) => !equal);
  const [first] = differing;
  if (first === undefined || !root.equal) return { ...root, below };
  return {
    ...root,
    equal: false,
    differsIn: differing.every(({ differsIn }) => differsIn === 'text') ? 'text' : 'action',
    why: `${root.why} Below, ${first.run}: ${first.why}`,
    below,
  };
}

interface PlaceBelow<Run> {
  /** As in MemberDiff. */
  readonly run: string;
  readonly a: Run | undefined;
  readonly b: Run | undefined;
}

function memberDiff<Run>(
  { run, a, b }: PlaceBelow<Run>,
  compare: (a: Run, b: Run) => Diff,
): MemberDiff {
  if (a !== undefined && b !== undefined) return { run, ...compare(a, b) };
  const why = `Only ${a === undefined ? 'B' : 'A'} has this run.`;
  return { run, equal: false, differsIn: 'presence', why };
}

/** Places of the runs below either root. */
export function placesOf<Run extends { readonly runId: string }>(
  a: TreeOf<Run>,
  b: TreeOf<Run>,
): readonly PlaceBelow<Run>[] {
  const [left, right] = [byPlace(a), byPlace(b)];
  const places = [...new Set([...left.keys(), ...right.keys()])];
  return places.map((run) => ({ run, a: left.get(run), b: right.get(run) }));
}

function byPlace<Run extends { readonly runId: string }>({
  runId: root,
  below = [],
}: TreeOf<Run>): ReadonlyMap<string, Run> {
  return new Map(below.map((run) => [placeIn(root, run.runId), run]));
}

/** Of a run below the root: what its id has behind that. */
export function placeIn(root: string, runId: string): string {
  return runId.startsWith(`${root}:`) ? runId.slice(root.length + 1) : runId;
}
