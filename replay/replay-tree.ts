/** Strict replay of bundles with everything below their runs: one report each. */
import type { Bundle } from './bundle.js';
import { replayRunsOf, type StreamedRun, type ReplayReport } from './strict-replay.js';
import { runsOf } from './tree.js';

/** Of a bundle: its run, and all runs below it. */
export interface TreeReport extends ReplayReport {
  /** Every one of the runs is equal. */
  readonly equal: boolean;
  /** In the order of the bundle; absent: the run is alone. */
  readonly members?: readonly ReplayReport[];
}

/** The runs of a bundle, one after another. */
export interface ReplayableTree {
  /** Run id. */
  readonly root: string;
  readonly count: number;
  readonly runs: AsyncIterable<StreamedRun> | Iterable<StreamedRun>;
}

export function treeOfBundle(bundle: Bundle): ReplayableTree {
  const runs = runsOf(bundle);
  return { root: bundle.run.runId, count: runs.length, runs };
}

export async function replayTree(tree: Bundle | ReplayableTree): Promise<TreeReport> {
  const whole = 'runs' in tree ? tree : treeOfBundle(tree);
  for await (const report of replayTreesOf([whole])) return report;
  throw new Error('a bundle has one report');
}

/** Replays trees one after another, in one replaying worker. */
export async function* replayTreesOf(
  trees: AsyncIterable<ReplayableTree> | Iterable<ReplayableTree>,
): AsyncGenerator<TreeReport, void> {
  const waiting: ReplayableTree[] = [];
  async function* runs(): AsyncGenerator<StreamedRun> {
    for await (const tree of trees) {
      waiting.push(tree);
      yield* tree.runs;
    }
  }
  let reports: ReplayReport[] = [];
  for await (const report of replayRunsOf(runs())) {
    reports.push(report);
    const [tree] = waiting;
    if (tree === undefined || reports.length < tree.count) continue;
    waiting.shift();
    // In a file that is read in pieces the root comes last.
    const root = reports.find(({ runId }) => runId === tree.root)!;
    yield treeReport(
      root,
      reports.filter((one) => one !== root),
    );
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
