/** Says to another run that letters lie in the store for it. */
import type { Context } from '@temporalio/activity';

const TELL_MS_MAX = 20_000;
/** Of workflows/messages.ts, which only clients and workflows import. */
const SIGNAL = 'mail';

/** A run that is gone needs no word; where the server is away the activity is tried again. */
export async function wakeRun(
  connected: () => Context['client'],
  workflowId: string,
): Promise<void> {
  const client = connected();
  try {
    await client.withDeadline(Date.now() + TELL_MS_MAX, () =>
      client.workflow.getHandle(workflowId).signal(SIGNAL),
    );
  } catch (error) {
    if (!(error instanceof Error && error.name === 'WorkflowNotFoundError')) throw error;
  }
}
