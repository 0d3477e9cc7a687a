/** find_tick: the next time of a cron line, by this worker's data on time zones, which differ between releases. */
import type { FindTickInput, FindTickOutput } from '../../core/state/goal/payloads.js';
import { nextTick } from './next-tick.js';
import type { ActivityDeps } from '../deps.js';
import { appendEvents } from '../run/append-events.js';
import type { Scope } from '../scope.js';

export async function findTick(
  deps: ActivityDeps,
  scope: Scope,
  input: FindTickInput,
): Promise<FindTickOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  return { at: nextTick(input, input.after), eventsUpTo };
}
