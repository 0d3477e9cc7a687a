/** The memory of a goal in the store, by its hash. */
import type { RunRef } from '../../core/state/effect.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import { memoryIn, memoryText } from '../../pure/goal/memory.js';
import type { StoreCalls } from '../../store/store.js';

type OfGoal = { readonly run: Pick<RunRef, 'tenant'> };

/** Errors: `TranscriptMissing` when the store has lost it. */
export async function readMemory(
  store: Pick<StoreCalls, 'getText'>,
  { run }: OfGoal,
  hash: string,
): Promise<GoalMemory> {
  return memoryIn(await store.getText(run.tenant, { $blob: hash, bytes: 0, preview: '' }));
}

/** Its hash. */
export async function writeMemory(
  store: Pick<StoreCalls, 'putBlob'>,
  { run }: OfGoal,
  memory: GoalMemory,
): Promise<string> {
  return (await store.putBlob(run.tenant, memoryText(memory))).$blob;
}
