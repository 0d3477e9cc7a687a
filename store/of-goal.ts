/** Whether a run works for a goal: as a cycle of it, or as a sub-agent below one. */
import type { Children } from './children.js';

/** A cycle, and five generations of sub-agents. */
const GENERATIONS_MAX = 6;

/** By the rows alone, which nobody but a parent writes. */
export async function isOfGoal(
  store: Pick<Children, 'childRow'>,
  { tenant, goal }: { readonly tenant: string; readonly goal: string },
  runId: string,
): Promise<boolean> {
  let id = runId;
  for (let generation = 0; generation < GENERATIONS_MAX; generation += 1) {
    const parent = (await store.childRow(tenant, id))?.parent;
    if (parent === undefined) return false;
    if (parent === goal) return true;
    id = parent;
  }
  return false;
}
