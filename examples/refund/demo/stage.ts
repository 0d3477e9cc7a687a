/** Everything the demo needs running, opened together and closed in the opposite order. */
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { connect, openStore } from '../../../index.js';
import type { HoldfastClient } from '../../../index.js';
import { startScriptedModel } from '../../../testing/index.js';
import { AGENT_QUEUE } from '../business/queues.js';
import { bundleBusiness, createBusinessWorker } from '../business/worker.js';
import { refundScript } from '../script.js';
import type { Closers } from './closers.js';
import { takeDemoFolder } from './demo-folder.js';
import { keepAlive } from './keep-alive.js';
import type { KeptService } from './keep-alive.js';
import { startService } from './service.js';
import { demoServer } from './temporal.js';
import type { DemoServer } from './temporal.js';
import type { Terminal } from './terminal.js';

export interface StageOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Data folder: the server's database, Holdfast's store, the shop. */
  readonly home: string;
  readonly terminal: Terminal;
  readonly closers: Closers;
  /** The demo cannot go on. */
  readonly onFailure: (error: unknown) => void;
}

export interface Stage {
  readonly server: DemoServer;
  readonly shopUrl: string;
  readonly worker: KeptService;
  readonly client: HoldfastClient;
  /** The business's own client: it knows nothing of agents. */
  readonly business: Client;
  readonly model: 'scripted' | 'anthropic';
}

export async function setStage(options: StageOptions): Promise<Stage> {
  const { home, terminal, closers } = options;
  const folder = takeDemoFolder(home);
  closers.add(folder.release);
  // In the order of their need; what is slow overlaps.
  const code = bundleBusiness();
  const shop = startShop(options, folder.shopDatabase);
  const model = modelVariables(options);
  // Whichever fails first is reported; the others must not become unhandled rejections.
  const [server, shopUrl, modelEnvironment] = await allOrCleanUp([
    startTemporal(options),
    shop,
    model,
  ]);
  const { address, namespace } = server;
  const environment = {
    ...options.environment,
    ...modelEnvironment.variables,
    HOLDFAST_ADDRESS: address,
    HOLDFAST_NAMESPACE: namespace,
    HOLDFAST_HOME: home,
    HOLDFAST_TASK_QUEUE: AGENT_QUEUE,
    SHOP_URL: shopUrl,
  };
  const [worker, business, client] = await allOrCleanUp([
    startHoldfastWorker(options, environment),
    startBusiness(options, { server, shopUrl, code }),
    openClient(options, server),
  ]);
  terminal.progress('');
  return { server, shopUrl, worker, client, business, model: modelEnvironment.model };
}

/** Waits for all, also when one fails: what the others open has registered its close by then. */
async function allOrCleanUp<T extends readonly unknown[]>(work: {
  readonly [index in keyof T]: Promise<T[index]>;
}): Promise<T> {
  await Promise.allSettled(work as readonly Promise<unknown>[]);
  return (await Promise.all(work as readonly Promise<unknown>[])) as unknown as T;
}

async function startTemporal({
  home,
  environment,
  terminal,
  closers,
}: StageOptions): Promise<DemoServer> {
  const server = await demoServer({
    home,
    environment,
    onProgress: ({ message, elapsedMs }) =>
      terminal.progress(`  ${message} (${Math.round(elapsedMs / 1000)} s)`),
  });
  closers.add(server.stop);
  return server;
}

async function startShop(
  { environment, closers }: StageOptions,
  database: string,
): Promise<string> {
  const shop = await startService({
    name: 'shop',
    entry: join(__dirname, '..', 'shop', 'main'),
    args: ['--database', database],
    environment,
  });
  closers.add(shop.stop);
  return (shop.ready as { readonly url: string }).url;
}

interface ModelPlace {
  readonly model: Stage['model'];
  readonly variables: Readonly<Record<string, string>>;
}

async function modelVariables({ environment, closers }: StageOptions): Promise<ModelPlace> {
  if (environment['ANTHROPIC_API_KEY']) return { model: 'anthropic', variables: {} };
  const model = await startScriptedModel({ script: refundScript });
  closers.add(model.stop);
  const variables = { ANTHROPIC_API_KEY: 'scripted', ANTHROPIC_BASE_URL: model.baseUrl };
  return { model: 'scripted', variables };
}

async function startHoldfastWorker(
  { terminal, closers, onFailure }: StageOptions,
  environment: StageOptions['environment'],
): Promise<KeptService> {
  const worker = await keepAlive(
    { name: 'Holdfast worker', entry: join(__dirname, '..', 'worker'), environment },
    {
      died: (pid) =>
        terminal.say(`  The Holdfast worker (process ${pid}) is gone. Starting another …`),
      restarted: (pid) => terminal.say(`  Holdfast worker: process ${pid}. Nothing was lost.`),
      failed: onFailure,
    },
  );
  closers.add(worker.stop);
  return worker;
}

interface BusinessNeeds {
  readonly server: DemoServer;
  readonly shopUrl: string;
  readonly code: Promise<string>;
}

async function startBusiness(
  { closers, onFailure }: StageOptions,
  { server, shopUrl, code }: BusinessNeeds,
): Promise<Client> {
  const { address, namespace } = server;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
    // Ctrl-C is ours: the demo stops its parts in order.
    shutdownSignals: [],
  });
  const connection = await NativeConnection.connect({ address });
  closers.add(() => connection.close());
  const worker = await createBusinessWorker({ connection, namespace, shopUrl, code: await code });
  const running = worker.run();
  running.catch(onFailure);
  closers.add(async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running.catch(() => undefined);
  });
  return new Client({ connection, namespace });
}

async function openClient(
  { home, closers }: StageOptions,
  server: DemoServer,
): Promise<HoldfastClient> {
  const store = await openStore({ file: join(home, 'store.db') });
  closers.add(() => store.close());
  const { address, namespace } = server;
  const client = await connect({ address, namespace, taskQueue: AGENT_QUEUE, store });
  closers.add(() => client.close());
  if (server.how !== 'started') await client.ensureNamespaceReady();
  return client;
}
