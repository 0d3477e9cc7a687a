/** flush: carries events to the store when nothing else will. */
import type { Acknowledged, FlushInput } from '../core/effect.js';
import type { ActivityDeps } from './deps.js';
import type { Scope } from './scope.js';

export async function flush(
  { store }: ActivityDeps,
  scope: Scope,
  input: FlushInput,
): Promise<Acknowledged> {
  const source = { ...input.run, execution: scope.execution };
  return { eventsUpTo: await store.appendEvents(source, input.events) };
}
