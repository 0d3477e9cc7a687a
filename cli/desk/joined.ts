/** Runs of the store with what Temporal alone knows of them, as far as it can be asked. */
import type { HoldfastClient, ReadingStore } from '../../client/index.js';
import type { Joiner } from '../../client/read/find-joined.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isTemporalsAlone } from '../../pure/listed-status.js';
import type { Session } from '../session.js';

/** A command is not held up by a server that is away. */
export function joinerIn(
  session: Session,
  store: Pick<ReadingStore, 'listRuns'>,
  tenant: string,
): Joiner {
  return {
    async joinedRuns(query) {
      const { status, ...others } = query;
      const client = isTemporalsAlone(status) ? await session.client() : await clientOr(session);
      if (typeof client !== 'string') return client.forTenant(tenant).joinedRuns(query);
      const stored = { ...others, ...(status && !isTemporalsAlone(status) && { status }) };
      const rows = await store.listRuns(tenant, stored);
      const last = rows.length >= query.limit ? rows.at(-1) : undefined;
      return { rows, ...(last && { next: last }), trouble: client };
    },
    async standingRows(rows) {
      // A run with a result has ended.
      if (rows.every(({ result }) => result !== undefined)) return { rows };
      const client = await clientOr(session);
      if (typeof client === 'string') return { rows, trouble: client };
      return client.forTenant(tenant).standingRows(rows);
    },
  };
}

/** Or why there is none. */
async function clientOr(session: Session): Promise<HoldfastClient | string> {
  try {
    return (await session.tryClient()) ?? 'No Temporal server answers.';
  } catch (error) {
    if (error instanceof HoldfastError) return error.message;
    throw error;
  }
}
