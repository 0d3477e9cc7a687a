/** How late plain timers are that end in the same moment, on a worker with as small a memory as that of the goals. */
import { extname, join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import type { plainTimer } from './timer.js';

const WORKFLOWS = join(__dirname, `timer${extname(__filename)}`);
const TASK_QUEUE = 'plain-timers';

export interface PlainTimers {
  readonly address: string;
  readonly count: number;
  readonly sleepMs: number;
  readonly maxCachedWorkflows: number;
}

/** From the time of waking to the activity behind it, ms, by timer. */
export async function latenessOfTimers(options: PlainTimers): Promise<readonly number[]> {
  const { address, count, sleepMs, maxCachedWorkflows } = options;
  const late: number[] = [];
  const native = await NativeConnection.connect({ address });
  const connection = await Connection.connect({ address });
  try {
    const worker = await Worker.create({
      connection: native,
      taskQueue: TASK_QUEUE,
      workflowBundle: await bundleWorkflowCode({
        workflowsPath: WORKFLOWS,
        logger: new DefaultLogger('ERROR'),
      }),
      activities: {
        woke: (until: number) => {
          late.push(Date.now() - until);
        },
      },
      maxCachedWorkflows,
    });
    await worker.runUntil(async () => {
      const client = new Client({ connection });
      const until = Date.now() + sleepMs;
      const started = Array.from({ length: count }, (_, number) =>
        client.workflow.start<typeof plainTimer>('plainTimer', {
          workflowId: `plain-timer-${number}`,
          taskQueue: TASK_QUEUE,
          args: [until],
        }),
      );
      const handles = await Promise.all(started);
      await Promise.all(handles.map((handle) => handle.result()));
    });
  } finally {
    await connection.close();
    await native.close();
  }
  return late;
}
