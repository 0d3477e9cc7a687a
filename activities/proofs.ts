/** What a result proves that the run gets by reference only: here the whole of it is at hand (G22). */
import { provenBy } from '../core/gates/evidence.js';
import type { RunRef, ToolCallRef } from '../core/effect.js';
import type { StoredText } from '../core/json.js';
import type { Evidence } from '../core/task.js';
import type { StoreCalls } from '../store/store.js';

export interface ProofRequest {
  readonly run: RunRef;
  readonly call: ToolCallRef;
  readonly evidence?: readonly Evidence[];
}

/** Nothing for a result that the run has itself. */
export async function proofsOf(
  store: StoreCalls,
  { run, call, evidence }: ProofRequest,
  content: StoredText,
): Promise<{ readonly proves?: readonly string[] }> {
  if (evidence === undefined || 'text' in content) return {};
  const text = await store.getText(run.tenant, content);
  return { proves: provenBy(evidence, call.tool, text) };
}
