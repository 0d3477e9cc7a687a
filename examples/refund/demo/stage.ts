/** Everything the demo needs running, opened together and closed in the opposite order. */
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { connect, openStore, type HoldfastClient } from '../../../index.js';
import type { OnProgress } from '../../../devserver/index.js';
import { startScriptedModel } from '../../../testing/index.js';
import { businessBundle } from '../business/bundle.js';
import { AGENT_QUEUE } from '../business/queues.js';
import { createBusinessWorker } from '../business/worker.js';
import { refundScript } from '../script.js';
import type { Closers } from '../../demo/closers.js';
import { freshDatabase, takeDemoFolder } from '../../demo/demo-folder.js';

import { keepAlive, type KeptService } from './keep-alive.js';
import { startService } from './service.js';
import { demoServer, type DemoServer } from '../../demo/temporal.js';
import type { Terminal } from '../../demo/terminal.js';

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

/** What is slow overlaps: the server starts while the rest is loaded. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const folder = takeDemoFolder(options.home);
  options.closers.add(folder.release);
  const server = startTemporal(options);
  const bundle = businessBundle();
  const model = startModel(options);
  const shopUrl = startShop(options, freshDatabase(join(folder.path, 'shop.db')));
  const parts = [
    server,
    shopUrl,
    model,
    startHoldfastWorker(options, { server, shopUrl, model }),
    startBusiness(options, { server, shopUrl, bundle }),
    openClient(options, server),
  ] as const;
  const [place, url, { name }, worker, business, client] = await Promise.all(parts);
  return { server: place, shopUrl: url, model: name, worker, business, client };
}

async function startTemporal(options: StageOptions): Promise<DemoServer> {
  const { home, environment, terminal, closers } = options;
  const onProgress: OnProgress = ({ message, elapsedMs }) => {
    const seconds = Math.round(elapsedMs / 1000);
    // In a log, where lines stay, every tenth second is enough.
    if (terminal.live || seconds % 10 < 2) terminal.progress(`  ${message} (${seconds} s)`);
  };
  const server = await demoServer({ home, environment, onProgress });
  closers.add(server.stop);
  for (const file of server.leftBehind) {
    terminal.say(
      `  ${file} holds runs of another version of the server; they wait for that version.`,
    );
  }
  return server;
}

async function startShop(options: StageOptions, database: string): Promise<string> {
  const { environment, closers } = options;
  const shop = await startService({
    name: 'shop',
    entry: join(__dirname, '..', 'shop', 'main'),
    args: ['--database', database],
    environment,
  });
  closers.add(shop.stop);
  return (shop.ready as { readonly url: string }).url;
}

interface Model {
  readonly name: Stage['model'];
  readonly variables: Readonly<Record<string, string>>;
}

async function startModel({ environment, closers }: StageOptions): Promise<Model> {
  if (environment['ANTHROPIC_API_KEY']) return { name: 'anthropic', variables: {} };
  const model = await startScriptedModel({ script: refundScript });
  closers.add(model.stop);
  const variables = { ANTHROPIC_API_KEY: 'scripted', ANTHROPIC_BASE_URL: model.baseUrl };
  return { name: 'scripted', variables };
}

interface WorkerNeeds {
  readonly server: Promise<DemoServer>;
  readonly shopUrl: Promise<string>;
  readonly model: Promise<Model>;
}

async function startHoldfastWorker(
  options: StageOptions,
  { server, shopUrl, model }: WorkerNeeds,
): Promise<KeptService> {
  const { home, terminal, closers, onFailure } = options;
  const environment = {
    ...options.environment,
    ...(await model).variables,
    HOLDFAST_HOME: home,
    HOLDFAST_STORE: storeFile(home),
    HOLDFAST_TASK_QUEUE: AGENT_QUEUE,
    SHOP_URL: await shopUrl,
  };
  const firstLine = server.then(({ address, namespace }) => JSON.stringify({ address, namespace }));
  const worker = await keepAlive(
    { name: 'Holdfast worker', entry: join(__dirname, '..', 'worker'), environment, firstLine },
    {
      died: (pid) =>
        terminal.say(`The Holdfast worker, process ${pid}, is gone. Starting another …`),
      restarted: (pid) => terminal.say(`Holdfast worker: process ${pid}. The run goes on.`),
      failed: onFailure,
    },
  );
  closers.add(worker.stop);
  return worker;
}

interface BusinessNeeds {
  readonly server: Promise<DemoServer>;
  readonly shopUrl: Promise<string>;
  readonly bundle: Promise<WorkflowBundleOption>;
}

async function startBusiness(
  { closers, onFailure }: StageOptions,
  needs: BusinessNeeds,
): Promise<Client> {
  const [{ address, namespace }, shopUrl, bundle] = await Promise.all([
    needs.server,
    needs.shopUrl,
    needs.bundle,
  ]);
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
    // Ctrl-C is ours: the demo stops its parts in order.
    shutdownSignals: [],
  });
  const connection = await NativeConnection.connect({ address });
  closers.add(() => connection.close());
  const worker = await createBusinessWorker({ connection, namespace, shopUrl, bundle });
  const running = worker.run();
  running.catch(onFailure);
  closers.add(async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running.catch(() => undefined);
  });
  return new Client({ connection, namespace });
}

/** Holdfast's store: written by the worker, read by the client. */
function storeFile(home: string): string {
  return join(home, 'store.db');
}

async function openClient(
  { home, closers }: StageOptions,
  server: Promise<DemoServer>,
): Promise<HoldfastClient> {
  const { address, namespace, how } = await server;
  const store = await openStore({ file: storeFile(home) });
  closers.add(() => store.close());
  const client = await connect({ address, namespace, taskQueue: AGENT_QUEUE, store });
  closers.add(() => client.close());
  if (how !== 'started') await client.ensureNamespaceReady();
  return client;
}
