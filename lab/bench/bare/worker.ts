/** A worker of the bare loop, with the settings of a Holdfast worker. */
import { extname, join } from 'node:path';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Worker,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { bareTools, INSTRUCTIONS, MODEL, runTool, type Outside } from '../setting.js';
import { bareActivities } from './activities.js';

const WORKFLOWS = join(__dirname, `loop${extname(__filename)}`);

/** As a Holdfast worker has it: a heartbeat held back longer would make the worker look dead for longer. */
const HEARTBEAT_THROTTLE_MS = 500;

export interface BareWorkerSettings {
  readonly address: string;
  readonly taskQueue: string;
  readonly modelUrl: string;
  readonly workflowBundle: WorkflowBundleOption;
  readonly outside: Outside;
  /** Names of the tools offered to the model. */
  readonly tools: readonly string[];
  readonly stickyTimeoutMs?: number;
  readonly maxCachedWorkflows?: number;
}

export function bareBundle(): Promise<{ readonly code: string }> {
  return bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: new DefaultLogger('ERROR') });
}

export interface BareWorker {
  readonly worker: Worker;
  /** Serves until `worker.shutdown()`. */
  run(): Promise<void>;
}

export async function createBareWorker(settings: BareWorkerSettings): Promise<BareWorker> {
  const { stickyTimeoutMs, maxCachedWorkflows } = settings;
  const connection = await NativeConnection.connect({ address: settings.address });
  const worker = await Worker.create({
    connection,
    taskQueue: settings.taskQueue,
    workflowBundle: settings.workflowBundle,
    activities: bareActivities({
      baseUrl: settings.modelUrl,
      model: MODEL,
      system: INSTRUCTIONS,
      tools: bareTools(settings.tools),
      runTool: ({ name, args, run }) => runTool(settings.outside, { tool: name, args, runId: run }),
    }),
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    ...(stickyTimeoutMs !== undefined && { stickyQueueScheduleToStartTimeout: stickyTimeoutMs }),
    ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }),
  });
  return {
    worker,
    async run() {
      await worker.run();
      await connection.close();
    },
  };
}
