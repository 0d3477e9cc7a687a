/**
 * The SDK's worker, whose workflow code runs with less around it (run-vm.ts). It extends what the SDK leaves open to
 * extension, and belongs to exactly the version that package.json names.
 */
import type { Logger } from '@temporalio/common';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import { RunThreads } from './run-threads.js';
import { RunVmCreator, type WorkflowBundle } from './run-vm.js';
import { hasThreads } from './thread-ahead.js';

/** What the SDK's bundler writes where modules of a context that several workflows share are kept apart. */
const KEPT_APART = 'globalThis.__webpack_module_cache__';

/** Whether the SDK is to run this code by itself, or to refuse it: an environment or a plugin asks for more than is here. */
function isForSdk(
  { code }: WorkflowBundle,
  { reuseV8Context, patchActivationCallback }: CompiledWorkerOptions,
): boolean {
  return !reuseV8Context || patchActivationCallback !== undefined || !code.includes(KEPT_APART);
}

/** Runs workflow code in threads; a debugger's (`TEMPORAL_DEBUG`) is the SDK's. */
export class HoldfastWorker extends Worker {
  protected static override createWorkflowCreator(
    workflowBundle: WorkflowBundle,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    if (options.debugMode || !hasThreads() || isForSdk(workflowBundle, options))
      return super.createWorkflowCreator(workflowBundle, options, logger);
    const { workflowThreadPoolSize, isolateExecutionTimeoutMs, reuseV8Context } = options;
    return RunThreads.start({
      workflowBundle,
      threadPoolSize: workflowThreadPoolSize,
      isolateExecutionTimeoutMs,
      reuseV8Context,
      registeredActivityNames: new Set(options.activities.keys()),
      logger,
    });
  }
}

/** The SDK leaves threads behind when it or the server refuses the worker after they have begun: they are ended here. */
export async function createWorkerOf(kind: typeof Worker, options: WorkerOptions): Promise<Worker> {
  let creator: Promise<WorkflowCreator> | undefined;
  const once = class extends kind {
    protected static override createWorkflowCreator(
      ...given: Parameters<typeof Worker.createWorkflowCreator>
    ): Promise<WorkflowCreator> {
      return (creator = super.createWorkflowCreator(...given));
    }
  };
  try {
    return await once.create(options);
  } catch (error) {
    // The first error is the one to tell.
    await creator?.then((begun) => begun.destroy()).catch(() => undefined);
    throw error;
  }
}

/** Replays histories on the thread of who asks, as the SDK does; workflow code may take any time there. */
export class HoldfastReplayer extends Worker {
  protected static override createWorkflowCreator(
    workflowBundle: WorkflowBundle,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    if (isForSdk(workflowBundle, options))
      return super.createWorkflowCreator(workflowBundle, options, logger);
    const registeredActivityNames = new Set(options.activities.keys());
    return Promise.resolve(new RunVmCreator({ workflowBundle, registeredActivityNames }));
  }
}
