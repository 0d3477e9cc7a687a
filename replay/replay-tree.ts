/** Strict replay of bundles with everything below their runs: one report each. */
import type { Bundle } from './bundle.js';
import { replayRunsOf, type ReplayableRun, type ReplayReport } from './strict-replay.js';
import { runsOf } from './tree.js';

/** Of a bundle: its run, and all runs below it. */
export interface TreeReport extends ReplayReport {
  /** Every one of the runs is equal. */
  readonly equal: boolean;
  /** In the order of the bundle; absent: the run is alone. */
  readonly members?: readonly ReplayReport[];
}

export async function replayTree(bundle: Bundle): Promise<TreeReport> {
  for await (const report of replayTreesOf([bundle])) return report;
  throw new Error('a bundle has one report');
}

/** Replays bundles one after another, in one replaying worker. */
export async function* replayTreesOf(
  bundles: AsyncIterable<Bundle> | Iterable<Bundle>,
): AsyncGenerator<TreeReport, void> {
  const sizes: number[] = [];
  async function* runs(): AsyncGenerator<ReplayableRun> {
    for await (const bundle of bundles) {
      const all = runsOf(bundle);
      sizes.push(all.length);
      yield* all;
    }
  }
  let reports: ReplayReport[] = [];
  for await (const report of replayRunsOf(runs())) {
    reports.push(report);
    if (reports.length < (sizes[0] ?? 1)) continue;
    sizes.shift();
    const [root, ...members] = reports;
    yield treeReport(root!, members);
    reports = [];
  }
}

function treeReport(root: ReplayReport, members: readonly ReplayReport[]): TreeReport {
  if (members.length === 0) return root;
  return { ...root, equal: [root, ...members].every(({ equal }) => equal), members };
}

/** The root's and the members'. */
export function reportsOf(report: TreeReport): readonly ReplayReport[] {
  const { members = [], ...root } = report;
  return [root, ...members];
}
