/**
 * Keeps the history of the segment that continue-as-new has closed: Temporal's retention will delete it.
 * Invariant: never fails a run; what could not be kept is a warning.
 */
import type { OpenRunInput } from '../core/effect.js';
import type { Store } from '../store/store.js';
import type { Scope } from './scope.js';

export async function archiveSegment(
  store: Store,
  scope: Scope,
  input: OpenRunInput,
): Promise<void> {
  const { run, segment, previousExecution: execution } = input;
  if (execution === undefined || segment === 0) return;
  try {
    const history = await scope.fetchHistory(run.runId, execution);
    const { tenant, runId } = run;
    await store.archiveHistory({ tenant, runId, segment: segment - 1, execution, history });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    scope.warn(`The history of segment ${segment - 1} could not be kept: ${reason}`, {
      runId: run.runId,
      execution,
    });
  }
}
