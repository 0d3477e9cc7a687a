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
  const root = diffOf(a, b, options);
  const [left, right] = [placesOf(a), placesOf(b)];
  const places = [...new Set([...left.keys(), ...right.keys()])];
  if (places.length === 0) return root;
  const below = places.map((run) => memberDiff(run, [left.get(run), right.get(run)], options));
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

function memberDiff(
  run: string,
  [a, b]: readonly [ComparedRun | undefined, ComparedRun | undefined],
  options: DiffOptions,
): MemberDiff {
  if (a !== undefined && b !== undefined) return { run, ...diffOf(a, b, options) };
  const why = `Only ${a === undefined ? 'B' : 'A'} has this run.`;
  return { run, equal: false, differsIn: 'presence', why };
}

function placesOf({ runId: root, below = [] }: ComparedTree): ReadonlyMap<string, ComparedRun> {
  return new Map(
    below.map((run) => {
      const isBelow = run.runId.startsWith(`${root}:`);
      return [isBelow ? run.runId.slice(root.length + 1) : run.runId, run];
    }),
  );
}
