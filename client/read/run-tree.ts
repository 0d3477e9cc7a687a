/**
 * A run and the runs below it, each with where it stands and what it paid, and what all of them paid by route.
 * Invariant: at most TREE_RUNS_MAX runs are read; more are said.
 */
import type { RunName } from '../../store/changes.js';
import type { ChildRow } from '../../store/children.js';
import { addedRoutes, type RouteCost } from '../../store/route-costs.js';
import { rowsBelow } from '../../store/rows-below.js';
import type { RunRow } from '../../store/runs.js';
import type { ReadingStore } from '../link.js';

export const TREE_RUNS_MAX = 200;
const DEPTH_MAX = 8;

export interface TreeRunShown {
  readonly runId: string;
  /** Run id of the run, or goal, that started it; absent: the one that was asked for. */
  readonly parent?: string;
  /** Generations below the one that was asked for. */
  readonly depth: number;
  readonly kind?: 'goal';
  /** Of a sub-agent: names of the agents from the root to it. */
  readonly agentPath?: readonly string[];
  readonly agent: string;
  /** `not_begun`: it is to start, or never did. */
  readonly status: string;
  readonly stopReason?: string;
  readonly detail?: string;
  /** ms since epoch. */
  readonly startedAt?: number;
  readonly completedAt?: number;
  /** Of a run that has ended: with everything below it. */
  readonly costMicroUsd?: number;
  /** What it paid itself. */
  readonly routes: readonly RouteCost[];
}

export interface RunTree {
  readonly runId: string;
  /** Parents before their children. */
  readonly runs: readonly TreeRunShown[];
  /** Of all of them, dearest first. */
  readonly routes: readonly RouteCost[];
  /** There are more than are read here. */
  readonly leftOut?: true;
}

type TreeReader = Pick<ReadingStore, 'getRun' | 'listChildren' | 'routeCosts'>;

const ENDED_MAX = 2_000;
/** What runs paid that have ended, the newest asked for: a page asks again and again. */
const paidByEnded = new WeakMap<TreeReader, Map<string, readonly RouteCost[]>>();

/** Undefined: the store does not know the run. */
export async function readTree(store: TreeReader, name: RunName): Promise<RunTree | undefined> {
  const { tenant, runId } = name;
  const root = await store.getRun(tenant, runId);
  if (root === undefined) return undefined;
  const wanted = { depth: DEPTH_MAX, count: TREE_RUNS_MAX };
  const { rows, leftOut } = await rowsBelow(store, name, wanted);
  const depths = new Map([[runId, 0]]);
  const runs = [shown(root, { depth: 0, routes: await paidBy(store, root) })];
  for (const row of rows) {
    const depth = (depths.get(row.parent) ?? 0) + 1;
    depths.set(row.child, depth);
    const run = await store.getRun(tenant, row.child);
    const routes = run === undefined ? [] : await paidBy(store, run);
    const { parent } = row;
    runs.push({
      ...(run === undefined ? notBegun(row, depth) : shown(run, { depth, routes })),
      parent,
    });
  }
  const routes = addedRoutes(runs.flatMap((run) => run.routes));
  return { runId, runs, routes, ...(leftOut && { leftOut: true }) };
}

async function paidBy(store: TreeReader, run: RunRow): Promise<readonly RouteCost[]> {
  const { tenant, runId, completedAt } = run;
  if (completedAt === undefined) return store.routeCosts({ tenant, runId });
  const kept = paidByEnded.get(store) ?? new Map<string, readonly RouteCost[]>();
  paidByEnded.set(store, kept);
  const key = JSON.stringify([tenant, runId, completedAt]);
  const routes = kept.get(key) ?? (await store.routeCosts({ tenant, runId }));
  kept.delete(key);
  kept.set(key, routes);
  const [oldest] = kept.keys();
  if (kept.size > ENDED_MAX && oldest !== undefined) kept.delete(oldest);
  return routes;
}

function shown(run: RunRow, at: Pick<TreeRunShown, 'depth' | 'routes'>): TreeRunShown {
  const { runId, kind, agentPath, agent, status, stopReason, detail } = run;
  const { startedAt, completedAt, costMicroUsd } = run;
  return {
    runId,
    ...at,
    ...(kind !== undefined && { kind }),
    ...(agentPath !== undefined && { agentPath }),
    agent,
    status,
    ...(stopReason !== undefined && { stopReason }),
    ...(detail !== undefined && { detail }),
    startedAt,
    ...(completedAt !== undefined && { completedAt }),
    ...(costMicroUsd !== undefined && { costMicroUsd }),
  };
}

function notBegun({ child: runId, place }: ChildRow, depth: number): TreeRunShown {
  return {
    runId,
    depth,
    ...(place !== undefined && { agentPath: place.path }),
    agent: place?.path.at(-1) ?? '',
    status: 'not_begun',
    routes: [],
  };
}
