/**
 * The SDK's worker, whose workflow code runs with less around it (run-vm.ts). It extends what the SDK leaves open to
 * extension, and belongs to exactly the version that package.json names.
 */
import { Worker } from '@temporalio/worker';
import type { Logger } from '@temporalio/common';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import { RunThreads } from './run-threads.js';
import { RunVmCreator, type WorkflowBundle } from './run-vm.js';

export class HoldfastWorker extends Worker {
  protected static override createWorkflowCreator(
    workflowBundle: WorkflowBundle,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const { reuseV8Context, patchActivationCallback } = options;
    // Neither is ours: an environment or a plugin asks for it.
    if (!reuseV8Context || patchActivationCallback !== undefined)
      return super.createWorkflowCreator(workflowBundle, options, logger);
    const registeredActivityNames = new Set(options.activities.keys());
    // Of debuggers and replays: on the thread of who asks.
    if (options.debugMode)
      return Promise.resolve(new RunVmCreator({ workflowBundle, registeredActivityNames }));
    if (!RunThreads.isCompiled())
      return super.createWorkflowCreator(workflowBundle, options, logger);
    const { workflowThreadPoolSize: threadPoolSize, isolateExecutionTimeoutMs } = options;
    return RunThreads.start({
      workflowBundle,
      threadPoolSize,
      isolateExecutionTimeoutMs,
      reuseV8Context,
      registeredActivityNames,
      logger,
    });
  }
}
