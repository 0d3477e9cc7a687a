/** Runs of the store with what Temporal alone knows of them, at the desk. */
import { joinerOver, type Joiner } from '../client/read/joiner.js';
import { HoldfastError } from '../core/state/errors.js';
import type { RunRow } from '../store/runs.js';
import type { Desk } from './desk.js';

/** A desk without a client lists from its store alone. */
type Places = Pick<Desk, 'store'> & Partial<Pick<Desk, 'client'>>;

export function joinerAt({ store, client }: Places, tenant: string): Joiner {
  return joinerOver({ store, tenant, client: async () => client ?? 'There is no server to ask.' });
}

/** One that no worker has opened. Of what nobody can ask Temporal about nothing is said. */
export async function unopenedAt(
  { client }: Places,
  tenant: string,
  runId: string,
): Promise<RunRow | undefined> {
  try {
    return await client?.forTenant(tenant).unopenedRun(runId);
  } catch (error) {
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}
