/** What the server knows of a run by its id. */
import type { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

const ASK_MS_MAX = 20_000;
const ENDS: readonly string[] = ['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT'];

export interface DescribedRun {
  readonly state: 'running' | 'closed' | 'not_found';
  /** Of a closed one that failed: the type of its failure. */
  readonly failure?: string;
  /** Workflow id of the one that started it as its child; null: none did; absent: not known. */
  readonly parent?: string | null;
}

/** Undefined: the server did not say. */
export async function describeRun(
  connected: () => Context['client'],
  workflowId: string,
): Promise<DescribedRun | undefined> {
  const deadline = Date.now() + ASK_MS_MAX;
  try {
    const client = connected();
    const handle = client.workflow.getHandle(workflowId);
    const { status, parentExecution } = await client.withDeadline(deadline, () =>
      handle.describe(),
    );
    const parent = parentExecution?.workflowId ?? null;
    // What a newer server may call otherwise, such as a pause, is no end.
    if (!ENDS.includes(status.name)) return { state: 'running', parent };
    if (status.name !== 'FAILED') return { state: 'closed', parent };
    const failure = await client
      .withDeadline(deadline, () => handle.result())
      .then(() => undefined, typeOf);
    return { state: 'closed', parent, ...(failure !== undefined && { failure }) };
  } catch (error) {
    return isNotFound(error) ? { state: 'not_found' } : undefined;
  }
}

function typeOf(error: unknown): string | undefined {
  const { cause } = (error ?? {}) as { readonly cause?: unknown };
  return cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined;
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkflowNotFoundError';
}
