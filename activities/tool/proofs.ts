/** What a result proves that the run gets by reference only: here the whole of it is at hand (G22). */
import { provenBy } from '../../core/gates/evidence.js';
import { type Proof } from '../../core/state/task.js';
import type { RunRef } from '../../core/state/effect.js';
import type { StoredText } from '../../core/json/json.js';
import type { StoreCalls } from '../../store/store.js';

export interface ProofRequest {
  readonly run: RunRef;
  readonly proofs?: readonly Proof[];
}

/** Nothing for a result that the run has itself. */
export async function proofsOf(
  store: StoreCalls,
  { run, proofs }: ProofRequest,
  content: StoredText,
): Promise<{ readonly proves?: readonly string[] }> {
  if (proofs === undefined || 'text' in content) return {};
  const text = await store.getText(run.tenant, content);
  return { proves: provenBy(proofs, text) };
}
