/** Workflow code runs with less around it than in the SDK's own threads, and what the SDK promises of it holds. */
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  type Worker,
} from '@temporalio/worker';
import { keepQuiet } from '../../replay/keep-quiet.js';
import { HoldfastWorker } from '../../worker/vm/holdfast-worker.js';
import { serverFor } from '../integration/support/server.js';
import { until } from '../integration/support/world.js';

const QUEUE = 'vm';
/** Of an entry into workflow code; an activation has twice as long. */
const LIMIT_MS = 1_000;
const TIMED_OUT = 'timed out after 2000ms';

let server: Awaited<ReturnType<typeof serverFor>>;
let connection: Connection;
let native: NativeConnection;
let client: Client;
let namespace: string;
let bundle: { readonly code: string };
let worker: Worker;
let served: Promise<void>;
const noted: string[] = [];

beforeAll(async () => {
  keepQuiet();
  server = await serverFor({});
  const { address } = server;
  ({ namespace } = server);
  connection = await Connection.connect({ address });
  native = await NativeConnection.connect({ address });
  client = new Client({ connection, namespace });
  const interceptors = join(__dirname, 'vm', 'interceptors.ts');
  bundle = await bundleWorkflowCode({
    workflowsPath: join(__dirname, 'vm', 'workflows.ts'),
    workflowInterceptorModules: [interceptors],
    logger: new DefaultLogger('ERROR'),
  });
  worker = await HoldfastWorker.create({
    connection: native,
    namespace,
    taskQueue: QUEUE,
    // Of no worker's settings: the SDK keeps it for itself.
    ...({ isolateExecutionTimeout: LIMIT_MS } as object),
    workflowBundle: bundle,
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

test.each([
  ['a decision', 'spins', 'decides'],
  ['hearing a signal', 'spinsAtOnce', 'hears'],
  ['another decision of the same thread', 'spins', 'decides-again'],
])('%s that does not end fails its task, and other runs go on', async (_what, workflow, id) => {
  const waiting = await start('waits', `beside-${id}`);
  const spinning = await start(workflow, id);
  await spinning.signal('go');
  expect(await failureOf(spinning)).toContain(TIMED_OUT);
  await spinning.terminate();
  await waiting.signal('go');
  expect(await waiting.result()).toBe('done');
});

test('a creation that does not end fails its task as well', async () => {
  const endless = await start('waits', 'endless');
  expect(await failureOf(endless)).toContain(TIMED_OUT);
  await endless.terminate();
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

test('code of another bundler is refused, as the SDK does: workflows would share what they remember', async () => {
  const code = bundle.code.replaceAll('globalThis.__webpack_module_cache__', '{}');
  const refused = HoldfastWorker.create({
    connection: native,
    namespace,
    taskQueue: 'other',
    workflowBundle: { code },
  });
  await expect(refused).rejects.toThrow('not compatible with the Reusable V8 Context');
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
