/** Runs of the store with what Temporal alone knows of them, in a command. */
import type { HoldfastClient, ReadingStore } from '../../client/index.js';
import { joinerOver, type Joiner } from '../../client/read/joiner.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Session } from '../session.js';

/** A command is not held up by a server that is away. */
export function joinerIn(
  session: Session,
  store: Pick<ReadingStore, 'listRuns'>,
  tenant: string,
): Joiner {
  const client = (isNeeded: boolean) => (isNeeded ? session.client() : clientOr(session));
  return joinerOver({ store, tenant, client });
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
