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
  const seen = new Set([runId]);
  let parents = [runId];
  for (let generation = 0; generation < depth && parents.length > 0; generation += 1) {
    const found: string[] = [];
    for (const parent of parents) {
      for await (const row of childrenOf(store, tenant, parent)) {
        if (seen.has(row.child)) continue;
        if (rows.length === count) return { rows, leftOut: true };
        seen.add(row.child);
        rows.push(row);
        found.push(row.child);
      }
    }
    parents = found;
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
