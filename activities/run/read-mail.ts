/** read_mail: letters of other runs, from the store; the signal that led here says nothing of them. */
import type { ReadMailInput, ReadMailOutput } from '../../core/state/effect.js';
import type { ActivityDeps } from '../deps.js';
import type { Scope } from '../scope.js';
import { appendEvents } from './append-events.js';

export async function readMail(
  { store }: ActivityDeps,
  scope: Scope,
  input: ReadMailInput,
): Promise<ReadMailOutput> {
  const eventsUpTo = await appendEvents(store, scope, input);
  const { run, after, limit } = input;
  const { letters, more } = await store.readLetters(run.tenant, run.runId, { after, limit });
  return { letters, more, eventsUpTo };
}
