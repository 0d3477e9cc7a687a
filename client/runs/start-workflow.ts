/** Starting the workflow of a run or goal in Temporal. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { HoldfastError } from '../../core/state/errors.js';
import type { GoalStart } from '../../core/state/goal/definition.js';
import type { RunResult } from '../../core/state/result.js';
import type { StartInput } from '../../core/state/task.js';
import type { RunViewStatus } from '../../core/state/view.js';
import { AGENT_RUN, type GOAL_RUN } from '../../workflows/messages.js';
import { TENANT } from './execution.js';
import { bounded, type Link } from '../link.js';
import { ensureNamespaceReady } from '../namespace.js';
import { STORE_AWAY, unlessStoreAway } from '../store-away.js';

const SUMMARY_CHARS_MAX = 120;
/** A run that finds it in its start need not show it. */
export const BEGUN = [
  {
    key: defineSearchAttributeKey('HoldfastStatus', SearchAttributeType.KEYWORD),
    value: 'running' satisfies RunViewStatus,
  },
];
const AGENT = defineSearchAttributeKey('HoldfastAgent', SearchAttributeType.KEYWORD);

/** A run is opened with the starter's store alone; while that is away, with the one that opens the run. */
export async function ownStore({ store }: Link): Promise<Pick<StartInput, 'store'>> {
  if (store === undefined) return {};
  const own = await unlessStoreAway(store, (calls) => calls.identity(Date.now()));
  return own === STORE_AWAY ? {} : { store: own.id };
}

export interface NewWorkflow {
  readonly type: typeof AGENT_RUN | typeof GOAL_RUN;
  /** Run id of the run or goal. */
  readonly id: string;
  readonly input: StartInput | GoalStart;
  readonly agent: string;
  readonly tenant: string;
  /** What is wanted, in any length. */
  readonly summary: string;
  readonly memo?: Readonly<Record<string, string>>;
  readonly decisionTimeoutMs?: number;
}

/**
 * Starts it, or finds what runs under its id. A namespace that nobody has prepared yet is prepared on its first start.
 * Errors: RunExists for an id that has ended.
 */
export async function startPrepared(link: Link, started: NewWorkflow): Promise<void> {
  try {
    await startWorkflow(link, started);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    if (!/search attribute/i.test(reason)) throw error;
    await ensureNamespaceReady(link);
    await startWorkflow(link, started);
  }
}

type Start = (input: NewWorkflow['input']) => Promise<RunResult>;

async function startWorkflow(link: Link, started: NewWorkflow): Promise<void> {
  const { type, id, input, agent, tenant, memo, decisionTimeoutMs } = started;
  await bounded(link, { runId: id }, async () => {
    try {
      await link.temporal.workflow.start<Start>(type, {
        workflowId: id,
        taskQueue: link.taskQueue,
        args: [input],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        typedSearchAttributes: [
          { key: AGENT, value: agent },
          { key: TENANT, value: tenant },
          ...(type === AGENT_RUN ? BEGUN : []),
        ],
        staticSummary: summaryOf(started),
        ...(memo !== undefined && { memo }),
        ...(decisionTimeoutMs !== undefined && { workflowTaskTimeout: decisionTimeoutMs }),
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      throw new HoldfastError('RunExists', `Run ${id} has already ended; an id is used once.`, {
        hint: `See it with \`holdfast show ${id}\`, or start with another run id.`,
        details: { runId: id },
        cause: error,
      });
    }
  });
}

/** One line for Temporal's web page, without what could be taken for markup. */
function summaryOf({ agent, summary }: NewWorkflow): string {
  const goal = summary.replace(/[\p{C}\s*_`<>[\]#|~\\]+/gu, ' ').trim();
  const cut = goal.slice(0, SUMMARY_CHARS_MAX);
  return `${agent}: ${cut}${cut.length < goal.length ? '…' : ''}`;
}
