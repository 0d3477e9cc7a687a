/** Workflow code runs with less around it than in the SDK's own threads, and what the SDK promises of it holds. */
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  type Worker,
} from '@temporalio/worker';
import { HoldfastWorker } from '../../worker/vm/holdfast-worker.js';
import { serverFor } from '../integration/support/server.js';
import { until } from '../integration/support/world.js';

const QUEUE = 'vm';
const LIMIT_MS = 1_000;

let server: Awaited<ReturnType<typeof serverFor>>;
let connection: Connection;
let native: NativeConnection;
let client: Client;
let worker: Worker;
let served: Promise<void>;
const noted: string[] = [];

beforeAll(async () => {
  server = await serverFor({});
  const { address, namespace } = server;
  connection = await Connection.connect({ address });
  native = await NativeConnection.connect({ address });
  client = new Client({ connection, namespace });
  const interceptors = join(__dirname, 'vm', 'interceptors.ts');
  worker = await HoldfastWorker.create({
    connection: native,
    namespace,
    taskQueue: QUEUE,
    // Of no worker's settings: the SDK keeps it for itself.
    ...({ isolateExecutionTimeout: LIMIT_MS } as object),
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: join(__dirname, 'vm', 'workflows.ts'),
      workflowInterceptorModules: [interceptors],
      logger: new DefaultLogger('ERROR'),
    }),
    sinks: {
      notes: {
        note: {
          fn: ({ workflowId, unsafe }, text) => {
            noted.push(`${workflowId} ${String(text)} ${unsafe.now() > 0}`);
          },
        },
      },
    },
  });
  served = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await served;
  await native.close();
  await connection.close();
  await server.stop();
});

const start = (workflow: string, workflowId: string = workflow) =>
  client.workflow.start(workflow, { taskQueue: QUEUE, workflowId });

/** What the first failed task of a run says. */
function failureOf(handle: WorkflowHandle): Promise<string> {
  return until('a failed task', async () => {
    const { events } = await handle.fetchHistory();
    const failed = events?.find((event) => event.workflowTaskFailedEventAttributes);
    return failed?.workflowTaskFailedEventAttributes?.failure?.message ?? undefined;
  });
}

test('an activation that does not end fails its task, and other runs of the thread go on', async () => {
  const waiting = await start('waits', 'beside');
  for (const id of ['spins', 'spins-again']) {
    const spinning = await start('spins', id);
    await spinning.signal('go');
    expect(await failureOf(spinning)).toContain(`timed out after ${LIMIT_MS}ms`);
    await spinning.terminate();
  }
  await waiting.signal('go');
  expect(await waiting.result()).toBe('done');
});

test('a promise that fails without anybody waiting for it fails the task of its own run', async () => {
  const forgetful = await start('forgets');
  expect(await failureOf(forgetful)).toContain('nobody waits for this');
  await forgetful.terminate();
});

test('a workflow that cannot be created fails its task with the reason', async () => {
  const barred = await start('waits', 'barred');
  expect(await failureOf(barred)).toContain('no interceptors for it');
  await barred.terminate();
});

test('what a workflow calls beside itself is called once, in order', async () => {
  const waiting = await start('waits', 'noting');
  await until('a note', () => noted.find((note) => note.startsWith('noting')));
  await waiting.signal('go');
  await waiting.result();
  expect(noted.filter((note) => note.startsWith('noting'))).toEqual([
    'noting waits true',
    'noting goes on true',
  ]);
});
