/** Asks another run to stop. */
import { randomUUID } from 'node:crypto';
import type { Context } from '@temporalio/activity';

const TELL_MS_MAX = 20_000;
/** The gRPC status of what is not there. */
const NOT_FOUND = 5;

/** `reason` stands in its history. A run that has ended hears nothing; one that was asked before is asked once. */
export async function cancelRun(
  connected: () => Context['client'],
  workflowId: string,
  reason: string,
): Promise<void> {
  const client = connected();
  const { namespace, identity } = client.options;
  try {
    await client.withDeadline(Date.now() + TELL_MS_MAX, () =>
      client.workflowService.requestCancelWorkflowExecution({
        namespace,
        identity,
        requestId: randomUUID(),
        workflowExecution: { workflowId },
        reason,
      }),
    );
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== NOT_FOUND) throw error;
  }
}
