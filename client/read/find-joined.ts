/** Runs that a search finds in the store, as they stand by what Temporal knows of them. */
import { isTemporalsAlone, type ListedStatus } from '../../pure/listed-status.js';
import { findRuns, type FindingStore, type FindRuns, type FoundRuns } from './find-runs.js';
import type { ListedRow, ListQuery } from './joined-page.js';
import type { Joiner } from './joiner.js';
import type { RunRow } from '../../store/runs.js';

interface Places {
  readonly store: FindingStore;
  readonly tenant: string;
  readonly joiner: Joiner;
}

export type FindJoined = Omit<FindRuns, 'status'> & { readonly status?: ListedStatus | undefined };

export type FoundJoined = Omit<FoundRuns, 'rows'> & {
  readonly rows: readonly ListedRow[];
  readonly trouble?: string;
};

/** Without runs that no worker has opened: nothing but their start is known. Errors: those of the joiner. */
export async function findJoined(
  { store, tenant, joiner }: Places,
  { status, ...wanted }: FindJoined,
): Promise<FoundJoined> {
  if (isTemporalsAlone(status)) {
    // The store has them as they stood before.
    let trouble: string | undefined;
    const listRuns = async (_tenant: string, query: ListQuery): Promise<readonly RunRow[]> => {
      const { rows, trouble: said } = await joiner.joinedRuns({ ...query, status });
      trouble ??= said;
      return rows.map((row) => ({ ...row, status: 'running' }));
    };
    const source: FindingStore = {
      listRuns,
      readEvents: (run, page) => store.readEvents(run, page),
    };
    const found = await findRuns(source, tenant, wanted);
    const rows = found.rows.map((row) => ({ ...row, status }));
    return { ...found, rows, ...(trouble !== undefined && { trouble }) };
  }
  const found = await findRuns(store, tenant, { ...wanted, ...(status && { status }) });
  const { rows, trouble } = await joiner.standingRows(found.rows);
  const fitting = status === undefined ? rows : rows.filter((row) => row.status === status);
  return { ...found, rows: fitting, ...(trouble !== undefined && { trouble }) };
}
