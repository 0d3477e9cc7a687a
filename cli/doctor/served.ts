/** What living workers serve, and what open runs need of code that nobody serves. */
import type { HoldfastClient } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { lackingLines, lackingRuns, servedNow } from '../../store/lacking-runs.js';
import { storeExists } from '../../store/place.js';
import type { Session } from '../session.js';
import { ok, warning, type Check } from './check.js';

const NAMES_SHOWN = 20;

export async function checkServed({
  place,
  named,
  clientWithoutStore,
}: Pick<Session, 'clientWithoutStore' | 'place' | 'named'>): Promise<readonly Check[]> {
  const { storePlace, storeSync, taskQueue } = place;
  const { namespace } = await named().catch(() => place);
  if (!storeExists(storePlace)) return [];
  const { openStoreAt } = await import('../../store/store.js');
  const store = await openStoreAt(storePlace, storeSync);
  try {
    const queue = { namespace, taskQueue };
    const alive = await servedNow(store, queue);
    // Without any worker every run waits; that is told elsewhere.
    if (alive.length === 0) return [];
    const client = await clientWithoutStore().catch(() => undefined);
    const hasEnded = (runId: string): Promise<boolean> => isOver(client, runId);
    const lacking = await lackingRuns(store, { ...queue, hasEnded });
    const lines = lackingLines(lacking, 'no worker serves');
    const agents = [...new Set(alive.flatMap((code) => code.agents))].toSorted();
    return [
      ok('served code', servedLine(alive.length, agents)),
      ...lines.map((line) => warning('served code', line, MEND)),
    ];
  } finally {
    await store.close();
  }
}

const MEND =
  'Start a worker that has it: name old versions in retiredTools and retiredHooks of its configuration. The run waits and loses nothing.';

function servedLine(workers: number, agents: readonly string[]): string {
  const shown = agents.slice(0, NAMES_SHOWN).join(', ');
  const more = agents.length > NAMES_SHOWN ? ` and ${agents.length - NAMES_SHOWN} more` : '';
  return `${workers} ${workers === 1 ? 'worker serves' : 'workers serve'} ${shown}${more}`;
}

async function isOver(client: HoldfastClient | undefined, runId: string): Promise<boolean> {
  if (client === undefined) return false;
  return client
    .handle(runId)
    .execution('brief')
    .then(
      ({ closed }) => closed,
      (error: unknown) => error instanceof HoldfastError && error.code === 'RunNotFound',
    );
}
