/** Which ids of evidence exist, of those that somebody names. */
import type { RunRef } from '../../core/state/effect.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { InTransaction } from '../deps.js';
import { evidenceReader } from './evidence-reader.js';

interface Named {
  readonly memory: GoalMemory;
  readonly ids: readonly string[];
}

export async function knownEvidence(
  { store, config }: Pick<InTransaction, 'store' | 'config'>,
  { run }: { readonly run: RunRef },
  { memory, ids }: Named,
): Promise<ReadonlySet<string>> {
  const { tenant, runId: goal } = run;
  const reader = evidenceReader({ store, config }, { tenant, goal, memory });
  const listed = new Set(memory.evidence);
  const known = new Set<string>();
  for (const id of new Set(ids)) {
    if (listed.has(id) || (await reader.find(id)) !== undefined) known.add(id);
  }
  return known;
}
