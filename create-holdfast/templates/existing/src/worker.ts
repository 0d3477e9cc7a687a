/** The business's own worker; `holdfast dev` or `holdfast worker` runs the one for the agents. */
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import * as activities from './activities.js';

async function main(): Promise<void> {
  const address = process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue: 'complaints',
    workflowsPath: join(process.cwd(), 'build', 'src', 'workflows.js'),
    activities,
  });
  await worker.run();
  await connection.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
