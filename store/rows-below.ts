/**
 * The rows of all runs below a run or goal.
 * Invariants: parents before their children, each run once; at most as many as are asked for, and more are said.
 */
import type { RunName } from './changes.js';
import type { ChildRow, Children } from './children.js';

export interface RowsWanted {
  /** Generations. */
  readonly depth: number;
  /** Rows. */
  readonly count: number;
}

export interface RowsBelow {
  readonly rows: readonly ChildRow[];
  /** There are more than were asked for. */
  readonly leftOut: boolean;
}

const PAGE_ROWS = 200;

export async function rowsBelow(
  store: Pick<Children, 'listChildren'>,
  { tenant, runId }: RunName,
  { depth, count }: RowsWanted,
): Promise<RowsBelow> {
  const rows: ChildRow[] = [];
  const generations = new Map([[runId, 0]]);
  // The map grows while it is walked, so that the oldest generation comes first.
  for (const [parent, generation] of generations) {
    if (generation === depth) break;
    for await (const row of childrenOf(store, tenant, parent)) {
      if (generations.has(row.child)) continue;
      if (rows.length === count) return { rows, leftOut: true };
      generations.set(row.child, generation + 1);
      rows.push(row);
    }
  }
  return { rows, leftOut: false };
}

/** The children of one run, each under a number of its own. */
async function* childrenOf(
  store: Pick<Children, 'listChildren'>,
  tenant: string,
  parent: string,
): AsyncGenerator<ChildRow> {
  for (let after = 0; ;) {
    const page = await store.listChildren(tenant, parent, { limit: PAGE_ROWS, after });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    after = last.n;
  }
}
