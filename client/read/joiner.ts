/** The store of a tenant with what Temporal alone knows of its runs, as far as it can be asked. */
import { HoldfastError } from '../../core/state/errors.js';
import { isTemporalsAlone } from '../../pure/listed-status.js';
import type { RunRow } from '../../store/runs.js';
import type { ReadingStore } from '../link.js';
import { othersWanted, placeOf, type ListedRow, type ListQuery } from './joined-page.js';
import type { JoinedRuns } from './joined-runs.js';

export interface Joiner {
  /** Errors: ServerUnavailable, for runs that Temporal ended. */
  joinedRuns(query: ListQuery): Promise<JoinedRuns>;
  standingRows(rows: readonly RunRow[]): Promise<Pick<JoinedRuns, 'rows' | 'trouble'>>;
}

interface JoinerPlace {
  readonly store: Pick<ReadingStore, 'listRuns'>;
  readonly tenant: string;
  /** Or why there is none; `isNeeded`: without one there is no answer. Errors: ServerUnavailable. */
  client(isNeeded: boolean): Promise<JoinersOfTenants | string>;
}

interface JoinersOfTenants {
  forTenant(tenant: string): Joiner;
}

/** Asks for a client only where there is something to ask it. */
export function joinerOver({ store, tenant, client }: JoinerPlace): Joiner {
  return {
    async joinedRuns(query) {
      const { status, ...others } = query;
      if (isTemporalsAlone(status)) {
        const asked = await client(true);
        if (typeof asked === 'string') throw noServer(asked);
        return asked.forTenant(tenant).joinedRuns(query);
      }
      const ofStore = async (): Promise<JoinedRuns> => {
        const rows = await store.listRuns(tenant, { ...others, ...(status && { status }) });
        const last = rows.length >= query.limit ? rows.at(-1) : undefined;
        return { rows, ...(last && { next: placeOf(last) }) };
      };
      const stored = othersWanted(query, undefined) === undefined ? await ofStore() : undefined;
      if (stored?.rows.every(hasEnded)) return stored;
      const asked = await client(false);
      if (typeof asked !== 'string') return asked.forTenant(tenant).joinedRuns(query);
      return { ...(stored ?? (await ofStore())), trouble: asked };
    },
    async standingRows(rows) {
      if (rows.every(hasEnded)) return { rows };
      const asked = await client(false);
      if (typeof asked === 'string') return { rows, trouble: asked };
      return asked.forTenant(tenant).standingRows(rows);
    },
  };
}

/** Temporal has nothing to add. */
function hasEnded({ result }: ListedRow): boolean {
  return result !== undefined;
}

function noServer(why: string): HoldfastError {
  return new HoldfastError('ServerUnavailable', why, {
    hint: 'Ask again when the server answers: the store does not know which runs Temporal ended.',
  });
}
