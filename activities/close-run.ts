/** close_run: what the run said last enters the transcript and the events. */
import type { CloseRunInput, CloseRunOutput } from '../core/effect.js';
import { appendEvents } from './append-events.js';
import { appendItems } from './append-items.js';
import type { ActivityDeps } from './deps.js';
import type { Scope } from './scope.js';

export async function closeRun(
  { store }: ActivityDeps,
  scope: Scope,
  input: CloseRunInput,
): Promise<CloseRunOutput> {
  const { run, head, append } = input;
  const eventsUpTo = await appendEvents(store, scope, input);
  // A run that was never opened has no conversation to append to.
  if (head === null) return { head, eventsUpTo };
  return { head: await appendItems(store, { tenant: run.tenant, head }, append), eventsUpTo };
}
