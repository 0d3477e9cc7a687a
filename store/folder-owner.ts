/** Whose work folder a run works on: its own, or that of the goal whose cycle the run is. */
import type { Store } from './store.js';
import type { FolderName } from './work-folders.js';

export async function folderOwner(
  store: Pick<Store, 'childRow'>,
  { tenant, runId }: { readonly tenant: string; readonly runId: string },
): Promise<FolderName> {
  const row = await store.childRow(tenant, runId);
  const isCycle = row !== undefined && row.child === `${row.parent}:c${row.n}`;
  return { tenant, owner: isCycle ? row.parent : runId };
}
