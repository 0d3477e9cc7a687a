/** fetch_keys: the keys of the desk that count now, for a run that has met one which it was not told of. */
import type { FetchKeysInput, FetchKeysOutput } from '../../core/state/effect.js';
import type { ActivityDeps } from '../deps.js';
import type { Scope } from '../scope.js';
import { appendEvents } from './append-events.js';

export async function fetchKeys(
  { store }: ActivityDeps,
  scope: Scope,
  input: FetchKeysInput,
): Promise<FetchKeysOutput> {
  const eventsUpTo = await appendEvents(store, scope, input);
  return { deskKeys: await store.deskKeys(input.run.tenant), eventsUpTo };
}
