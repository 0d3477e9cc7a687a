/** What is told of the runs of a tree: the same of a bundle and of what a store knows. */
import type { ChildRow } from '../store/children.js';
import type { RunRow } from '../store/runs.js';
import { resultIn } from '../recording/path.js';
import type { RunEvent } from '../core/state/event.js';
import type { Bundle } from './bundle.js';
import type { BundledRun } from './tree.js';

export interface ToldMember {
  readonly runId: string;
  /** Absent: the root. */
  readonly parent?: string;
  /** Generations below the root. */
  readonly depth: number;
  readonly agentPath?: readonly string[];
  /** '': not known. */
  readonly agent: string;
  /** As its run ended, or `open`. */
  readonly status: string;
  readonly detail?: string;
  readonly costMicroUsd?: number;
  /** Why there is no record of it. */
  readonly absent?: string;
}

/** Of a bundle, parents before their children; nothing where the run is alone. */
export function toldTree(bundle: Bundle): readonly ToldMember[] {
  const { members = [], absent = [] } = bundle;
  if (members.length === 0 && absent.length === 0) return [];
  const told: ToldMember[] = [memberTold(bundle)];
  for (const member of members) {
    const { parent, agentPath } = member;
    const above = told.find(({ runId }) => runId === parent);
    told.push({
      ...memberTold(member),
      parent,
      depth: (above?.depth ?? 0) + 1,
      ...(agentPath !== undefined && { agentPath }),
    });
  }
  const lost = absent.map(({ runId, parent, reason }) => {
    const above = told.find((one) => one.runId === parent);
    const depth = (above?.depth ?? 0) + 1;
    return { runId, parent, depth, agent: '', status: 'absent', absent: reason };
  });
  return [...told, ...lost];
}

/** A run by its own record. */
export function memberTold({ run, events }: BundledRun): ToldMember {
  const result = endOf(events);
  const begun = events.find((event) => event.type === 'session_init');
  return {
    runId: run.runId,
    depth: 0,
    agent: begun?.type === 'session_init' ? begun.agent : '',
    status: result?.stopReason ?? 'open',
    ...(result?.detail !== undefined && { detail: result.detail }),
    ...(result !== undefined && { costMicroUsd: result.costMicroUsd }),
  };
}

function endOf(events: readonly RunEvent[]) {
  const ended = events.findLast((event) => event.type === 'goal_result');
  return ended?.type === 'goal_result' ? ended.result : resultIn(events);
}

/** Of rows, parents before their children; `known`: what the store lists of each run. */
export function toldRows(
  root: ToldMember,
  rows: readonly ChildRow[],
  known: ReadonlyMap<string, RunRow>,
): readonly ToldMember[] {
  const depths = new Map([[root.runId, 0]]);
  const below = rows.map(({ child: runId, parent, place }): ToldMember => {
    const depth = (depths.get(parent) ?? 0) + 1;
    depths.set(runId, depth);
    const run = known.get(runId);
    return {
      runId,
      parent,
      depth,
      ...(place !== undefined && { agentPath: place.path }),
      agent: run?.agent ?? place?.path.at(-1) ?? '',
      status: run?.stopReason ?? run?.status ?? 'open',
      ...(run?.detail !== undefined && { detail: run.detail }),
      ...(run?.costMicroUsd !== undefined && { costMicroUsd: run.costMicroUsd }),
    };
  });
  return [root, ...below];
}
