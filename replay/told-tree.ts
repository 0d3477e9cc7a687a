/** What is told of the runs of a tree: the same of a bundle and of what a store knows. */
import type { ChildRow } from '../store/children.js';
import type { RunRow } from '../store/runs.js';
import type { RunEvent } from '../core/state/event.js';
import type { RunResult } from '../core/state/result.js';
import type { Bundle, Member } from './bundle.js';
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

/** What the events of a run say of it, which come one by one. */
export interface MemberReader {
  event(event: RunEvent): void;
  told(run: Bundle['run']): ToldMember;
}

export function memberReader(): MemberReader {
  let agent: string | undefined;
  let ofGoal: Ended | undefined;
  let ofRun: Ended | undefined;
  return {
    event(event) {
      if (event.type === 'session_init') agent ??= event.agent;
      if (event.type === 'goal_result') ofGoal = event.result;
      if (event.type === 'run_result') ofRun = event.result;
    },
    told({ runId }) {
      const result = ofGoal ?? ofRun;
      return {
        runId,
        depth: 0,
        agent: agent ?? '',
        status: result?.stopReason ?? 'open',
        ...(result?.detail !== undefined && { detail: result.detail }),
        ...(result !== undefined && { costMicroUsd: result.costMicroUsd }),
      };
    },
  };
}

type Ended = Pick<RunResult, 'costMicroUsd'> & {
  readonly stopReason: string;
  readonly detail?: string;
};

/** Of a bundle, parents before their children; nothing where the run is alone. */
export function toldTree(bundle: Bundle): readonly ToldMember[] {
  const members = (bundle.members ?? []).map((member) => ({ ...member, told: toldOf(member) }));
  return toldBelow(toldOf(bundle), { ...bundle, members });
}

function toldOf({ run, events }: Pick<BundledRun, 'run' | 'events'>): ToldMember {
  const reader = memberReader();
  for (const event of events) reader.event(event);
  return reader.told(run);
}

interface Below extends Pick<Bundle, 'absent'> {
  readonly members: readonly (Pick<Member, 'parent' | 'agentPath'> & {
    /** By its own events. */
    readonly told: ToldMember;
  })[];
}

/** The same with what each run says of itself. */
export function toldBelow(
  root: ToldMember,
  { members, absent = [] }: Below,
): readonly ToldMember[] {
  if (members.length === 0 && absent.length === 0) return [];
  const told: ToldMember[] = [root];
  for (const { parent, agentPath, told: own } of members) {
    const above = told.find(({ runId }) => runId === parent);
    told.push({
      ...own,
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
