/** flush: carries to the store what no other effect will: events, and messages too large for a request. */
import type { FlushInput, FlushOutput } from '../../core/state/effect.js';
import { appendEvents } from './append-events.js';
import { appendItems } from './append-items.js';
import type { ActivityDeps } from '../deps.js';
import type { Scope } from '../scope.js';

export async function flush(
  { store }: ActivityDeps,
  scope: Scope,
  input: FlushInput,
): Promise<FlushOutput> {
  const { run, head, append = [] } = input;
  const eventsUpTo = await appendEvents(store, scope, input);
  if (head === undefined) return { eventsUpTo };
  return { head: await appendItems(store, { tenant: run.tenant, head }, append), eventsUpTo };
}
