/** The business's own worker: no Holdfast in it but the `runAgent` call inside its workflow. */
import { extname, join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import type { NativeConnection } from '@temporalio/worker';
import { shopAt } from '../shop/client.js';
import { businessActivities } from './activities.js';
import { BUSINESS_QUEUE } from './queues.js';

export interface BusinessWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly shopUrl: string;
  /** From {@link bundleBusiness}, so that bundling can overlap with the start of other things. */
  readonly code: string;
}

/** The workflow's code for the sandbox; about a second of work. */
export async function bundleBusiness(): Promise<string> {
  const workflow = join(__dirname, `refund-process${extname(__filename)}`);
  const { code } = await bundleWorkflowCode({
    workflowsPath: workflow,
    logger: new DefaultLogger('ERROR'),
  });
  return code;
}

export function createBusinessWorker(options: BusinessWorkerOptions): Promise<Worker> {
  return Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: BUSINESS_QUEUE,
    workflowBundle: { code: options.code },
    activities: businessActivities(shopAt(options.shopUrl)),
  });
}
