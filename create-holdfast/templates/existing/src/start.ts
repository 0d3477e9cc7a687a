/** Starts one workflow and prints what became of it. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { complaint } from './workflows.js';

async function main(): Promise<void> {
  const address = process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const text = process.argv.slice(2).join(' ') || 'My parcel O-104 arrived broken.';
  const result = await client.workflow.execute<typeof complaint>('complaint', {
    taskQueue: 'complaints',
    workflowId: `complaint-${randomUUID()}`,
    args: [text],
  });
  console.log(result);
  await connection.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
