/**
 * A thread that runs workflow code for a worker, with the SDK's requests and answers. The end of an activation says
 * besides whether something was called beside the run (a sink), so that nobody has to ask after each.
 */
import { parentPort } from 'node:worker_threads';
import { coresdk } from '@temporalio/proto';
import type { Workflow } from '@temporalio/worker/lib/workflow/interface';
import type {
  ActivateWorkflow,
  CreateWorkflow,
  WorkerThreadInput,
  WorkerThreadRequest,
} from '@temporalio/worker/lib/workflow/workflow-worker-thread/input';
import type {
  ActivationCompletion,
  SinkCallList,
  WorkerThreadOutput,
} from '@temporalio/worker/lib/workflow/workflow-worker-thread/output';
import { loadWhole } from '../load-whole.js';
import { RunVmCreator } from './run-vm.js';

type SinkCall = SinkCallList['calls'][number];

export interface ToldCompletion extends ActivationCompletion {
  /** Calls of sinks wait to be asked for. */
  readonly hasSinkCalls: boolean;
}

interface Run {
  /** As it is created: requests that come meanwhile wait for it, and fail as it does. */
  readonly workflow: Promise<Workflow>;
  sinkCalls: readonly SinkCall[];
}

/** Of an activation, two entries into workflow code may take long: what came is told, and what waits for it goes on. */
const ENTRIES = 2;

const runs = new Map<string, Run>();
let creator: RunVmCreator | undefined;

async function answerTo(input: WorkerThreadInput): Promise<WorkerThreadOutput | ToldCompletion> {
  switch (input.type) {
    case 'init':
      await loaded;
      creator = new RunVmCreator({ ...input, limitMs: input.isolateExecutionTimeoutMs * ENTRIES });
      return undefined;
    case 'create-workflow': {
      const run: Run = { workflow: created(input.options), sinkCalls: [] };
      runs.set(input.options.info.runId, run);
      await run.workflow;
      return undefined;
    }
    case 'activate-workflow':
      return activated(runOf(input.runId), input.activation);
    case 'extract-sink-calls':
      return { type: 'sink-calls', calls: await sinkCallsOf(runOf(input.runId)) };
    case 'dispose-workflow': {
      const { workflow } = runOf(input.runId);
      runs.delete(input.runId);
      await (await workflow).dispose();
      return undefined;
    }
    case 'destroy':
      // The thread ends whatever became of its code.
      await creator?.destroy().catch(() => undefined);
      return undefined;
  }
}

async function created(options: CreateWorkflow['options']): Promise<Workflow> {
  // What is limited has to be a continuation.
  await Promise.resolve();
  if (creator === undefined) throw new Error('A thread of workflows begins with its init.');
  return creator.createWorkflow(options);
}

function runOf(runId: string): Run {
  const run = runs.get(runId);
  if (run === undefined) throw new Error(`No workflow with the run id ${runId} is in this thread.`);
  return run;
}

async function activated(run: Run, given: ActivateWorkflow['activation']): Promise<ToldCompletion> {
  const workflow = await run.workflow;
  // What came from another thread has lost its classes.
  const activation = coresdk.workflow_activation.WorkflowActivation.fromObject(given);
  const completion = await workflow.activate(activation);
  run.sinkCalls = run.sinkCalls.concat(await workflow.getAndResetSinkCalls());
  return { type: 'activation-completion', completion, hasSinkCalls: run.sinkCalls.length > 0 };
}

/** Those of an activation that failed as well. */
async function sinkCallsOf(run: Run): Promise<SinkCall[]> {
  const workflow = await run.workflow;
  const calls = run.sinkCalls.concat(await workflow.getAndResetSinkCalls());
  run.sinkCalls = [];
  return calls.map(sendable);
}

/** Functions do not pass from thread to thread: the worker gives its own. */
function sendable(call: SinkCall): SinkCall {
  const { now: _now, random: _random, ...unsafe } = call.workflowInfo.unsafe;
  return { ...call, workflowInfo: { ...call.workflowInfo, unsafe } as SinkCall['workflowInfo'] };
}

async function answer({ requestId, input }: WorkerThreadRequest): Promise<void> {
  try {
    parentPort?.postMessage({ requestId, result: { type: 'ok', output: await answerTo(input) } });
  } catch (error) {
    const { name, message, stack } = error as Error;
    parentPort?.postMessage({ requestId, result: { type: 'error', name, message, stack } });
  }
}

const loaded = loadWhole(__filename);

parentPort?.on('message', (request: WorkerThreadRequest) => void answer(request));
