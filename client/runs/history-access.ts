/** What the histories of a run are read over, by whoever records, folds or replays them. */
import type { PayloadCodec } from '@temporalio/common';
import { bounded, type Link } from '../link.js';
import { ownExecution } from './execution.js';

type Service = Link['connection']['workflowService'];

export interface HistoryAccess {
  readonly connection: {
    readonly workflowService: {
      readonly getWorkflowExecutionHistory: (
        request: Parameters<Service['getWorkflowExecutionHistory']>[0],
      ) => ReturnType<Service['getWorkflowExecutionHistory']>;
      readonly describeWorkflowExecution: (
        request: Parameters<Service['describeWorkflowExecution']>[0],
      ) => ReturnType<Service['describeWorkflowExecution']>;
    };
  };
  readonly namespace: string;
  readonly payloadCodecs: readonly PayloadCodec[];
}

/** The gRPC status of what is not there: its reader looks elsewhere. */
const NOT_FOUND = 5;

/** Of a run or goal of the link's own tenant. Errors: RunNotFound, also for one of another tenant. */
export async function historyAccess(link: Link, runId: string): Promise<HistoryAccess> {
  await ownExecution(link, runId, 'brief');
  const { workflowService } = link.connection;
  return {
    connection: {
      workflowService: {
        getWorkflowExecutionHistory: (request) =>
          reading(link, runId, () => workflowService.getWorkflowExecutionHistory(request)),
        describeWorkflowExecution: (request) =>
          reading(link, runId, () => workflowService.describeWorkflowExecution(request)),
      },
    },
    namespace: link.namespace,
    payloadCodecs: link.payloadCodecs ?? [],
  };
}

async function reading<T>(link: Link, runId: string, read: () => Promise<T>): Promise<T> {
  let absent: unknown;
  const found = await bounded(link, { runId }, () =>
    read().catch((error: unknown) => {
      if ((error as { readonly code?: unknown }).code !== NOT_FOUND) throw error;
      absent = error;
      return undefined;
    }),
  );
  if (found === undefined) throw absent;
  return found;
}
