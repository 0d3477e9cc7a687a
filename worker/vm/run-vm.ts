/**
 * Workflow code in contexts of the SDK's, with less around it: one time limit for an activation in place of one for each
 * entry into the code, and no hook on promises, which would take a stack for each that nobody asks for.
 * Invariant: what the code is told, and in which order, is as the SDK tells it.
 */
import { Script } from 'node:vm';
import type { Workflow, WorkflowCreateOptions } from '@temporalio/worker/lib/workflow/interface';
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm';
import type { WorkflowBundleWithSourceMapAndFilename as WorkflowBundle } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input';
import { limited } from './limited.js';

export type { WorkflowBundle };

export interface RunVmOptions {
  readonly workflowBundle: WorkflowBundle;
  readonly registeredActivityNames: Set<string>;
  /** Of one activation; undefined, in replays: it may take any time. */
  readonly limitMs?: number;
}

/** The SDK hands it to Node for each entry: Node starts no thread for an entry without a limit. */
const UNLIMITED_ENTRY = undefined as unknown as number;

export class RunVmCreator extends ReusableVMWorkflowCreator {
  private readonly limitMs: number | undefined;

  constructor({ workflowBundle, registeredActivityNames, limitMs }: RunVmOptions) {
    const script = new Script(workflowBundle.code, { filename: workflowBundle.filename });
    super(script, workflowBundle, UNLIMITED_ENTRY, registeredActivityNames);
    this.limitMs = limitMs;
  }

  override async createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    const { limitMs } = this;
    if (limitMs === undefined) return super.createWorkflow(options);
    const workflow = await limited(limitMs, () => super.createWorkflow(options));
    return {
      activate: async (activation) => limited(limitMs, () => workflow.activate(activation)),
      getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
      dispose: async () => limited(limitMs, () => workflow.dispose()),
    };
  }
}
