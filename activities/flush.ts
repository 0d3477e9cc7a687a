/** flush: carries events to the store when nothing else will. */
import type { Acknowledged, FlushInput } from '../core/effect.js';
import { appendEvents } from './append-events.js';
import type { ActivityDeps } from './deps.js';
import type { Scope } from './scope.js';

export async function flush(
  { store }: ActivityDeps,
  scope: Scope,
  input: FlushInput,
): Promise<Acknowledged> {
  return { eventsUpTo: await appendEvents(store, scope, input) };
}
