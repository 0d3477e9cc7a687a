/**
 * Keeps the history of the segment that continue-as-new has closed: Temporal's retention will delete it.
 * Invariant: never fails a run; what could not be kept is a warning.
 */
import { Context } from '@temporalio/activity';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { OpenRunInput } from '../core/effect.js';
import type { Store } from '../store/store.js';

const FETCH_MS_MAX = 20_000;

export async function archiveSegment(store: Store, input: OpenRunInput): Promise<void> {
  const { run, segment, previousExecution: execution } = input;
  if (execution === undefined || segment === 0) return;
  const context = Context.current();
  try {
    // Absent in tests; a worker made from a NativeConnection has one.
    const handle = context.client.workflow.getHandle(run.runId, execution);
    const history = await context.client.withDeadline(Date.now() + FETCH_MS_MAX, () =>
      handle.fetchHistory(),
    );
    const bytes = Buffer.from(historyToJSON(history), 'utf8');
    const { tenant, runId } = run;
    const archived = { tenant, runId, segment: segment - 1, execution, history: bytes };
    await store.archiveHistory(archived);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    context.log.warn(`The history of segment ${segment - 1} could not be kept: ${reason}`, {
      runId: run.runId,
      execution,
    });
  }
}
