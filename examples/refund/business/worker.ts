/** The business's own worker: no Holdfast in it but the `runAgent` call inside its workflow. */
import { Worker } from '@temporalio/worker';
import type { NativeConnection, WorkflowBundleOption } from '@temporalio/worker';
import { shopAt } from '../shop/client.js';
import { businessActivities } from './activities.js';
import { BUSINESS_QUEUE } from './queues.js';

export interface BusinessWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly shopUrl: string;
  readonly bundle: WorkflowBundleOption;
}

export function createBusinessWorker(options: BusinessWorkerOptions): Promise<Worker> {
  return Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: BUSINESS_QUEUE,
    workflowBundle: options.bundle,
    activities: businessActivities(shopAt(options.shopUrl)),
  });
}
