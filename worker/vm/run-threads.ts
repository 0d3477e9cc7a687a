/**
 * The threads in which a worker runs workflow code. A run is created and activated with one request after the other,
 * without waiting in between, and the worker asks for calls of sinks only where there are some.
 */
import type { Workflow, WorkflowCreateOptions } from '@temporalio/worker/lib/workflow/interface';
import {
  ThreadedVMWorkflowCreator,
  VMWorkflowThreadProxy,
  WorkerThreadClient,
  type ThreadedVMWorkflowCreatorOptions,
} from '@temporalio/worker/lib/workflow/threaded-vm';
import type { ToldCompletion } from './run-thread.js';
import { takeThread } from './thread-ahead.js';

type Activate = Workflow['activate'];
type Calls = ReturnType<Workflow['getAndResetSinkCalls']>;

export class RunThreads extends ThreadedVMWorkflowCreator {
  static async start(options: ThreadedVMWorkflowCreatorOptions): Promise<RunThreads> {
    const { threadPoolSize, logger, ...init } = options;
    const threads = Array.from({ length: threadPoolSize }, takeThread);
    const clients = threads.map((thread) => new WorkerThreadClient(thread, logger));
    const request = { type: 'init' as const, hasPatchActivationCallback: false, ...init };
    try {
      await Promise.all(clients.map((client) => client.send(request)));
    } catch (error) {
      await Promise.all(threads.map((thread) => thread.terminate()));
      throw error;
    }
    return new RunThreads(clients);
  }

  override createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    return Promise.resolve(RunInThread.begin(this.workerThreadClients.reduce(leastBusy), options));
  }
}

function leastBusy(one: WorkerThreadClient, other: WorkerThreadClient): WorkerThreadClient {
  return one.getActiveWorkflowCount() <= other.getActiveWorkflowCount() ? one : other;
}

class RunInThread extends VMWorkflowThreadProxy {
  /** Of the newest activation; one that failed may have some. */
  private hasSinkCalls = true;

  static begin(client: WorkerThreadClient, options: WorkflowCreateOptions): RunInThread {
    const { now: _now, random: _random, ...unsafe } = options.info.unsafe;
    const info = { ...options.info, unsafe } as WorkflowCreateOptions['info'];
    // The activation that follows fails of the same.
    client.send({ type: 'create-workflow', options: { ...options, info } }).catch(() => undefined);
    return new RunInThread(client, info.runId);
  }

  override async activate(activation: Parameters<Activate>[0]): ReturnType<Activate> {
    this.hasSinkCalls = true;
    const { runId } = this;
    const output = await this.workerThreadClient.send({
      type: 'activate-workflow',
      activation,
      runId,
    });
    const { completion, hasSinkCalls } = output as ToldCompletion;
    this.hasSinkCalls = hasSinkCalls;
    return completion as Awaited<ReturnType<Activate>>;
  }

  override async getAndResetSinkCalls(): Calls {
    return this.hasSinkCalls ? super.getAndResetSinkCalls() : [];
  }
}
