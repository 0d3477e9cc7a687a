/** What an example of a goal needs running: server, model, worker, client; closed in the opposite order. */
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { connect, openStore, type Config, type HoldfastClient } from '../../index.js';
import type { OnProgress } from '../../devserver/index.js';
import { startWorker } from '../../worker/index.js';
import type { Script } from '../../testing/index.js';
import { takeDemoFolder } from './demo-folder.js';
import { modelFor, type Model } from './model.js';
import type { Demo } from './program.js';
import { demoServer, type DemoServer } from './temporal.js';

export interface GoalStageOptions<Parts extends { readonly config: Config }> extends Demo {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Data folder: the server's database and Holdfast's store. */
  readonly home: string;
  readonly taskQueue: string;
  /** Made once the data folder is this demo's own. */
  readonly config: () => Parts;
  readonly script: Script;
}

export interface GoalStage<Parts> {
  readonly server: DemoServer;
  readonly client: HoldfastClient;
  readonly model: Model;
  readonly parts: Parts;
}

export async function setGoalStage<Parts extends { readonly config: Config }>(
  options: GoalStageOptions<Parts>,
): Promise<GoalStage<Parts>> {
  const { home, closers, environment, script } = options;
  closers.add(takeDemoFolder(home).release);
  const parts = options.config();
  const [server, model] = await Promise.all([
    startTemporal(options),
    modelFor({ environment, script, closers }),
  ]);
  const place = { address: server.address, namespace: server.namespace };
  const store = await openStore({ file: storeFile(home) });
  closers.add(() => store.close());
  const client = await connect({ ...place, taskQueue: options.taskQueue, store });
  closers.add(() => client.close());
  if (server.how !== 'started') await client.ensureNamespaceReady();
  await serve(options, { ...place, model, config: parts.config });
  return { server, client, model, parts };
}

async function startTemporal({
  home,
  environment,
  terminal,
  closers,
}: Omit<GoalStageOptions<never>, 'config'>): Promise<DemoServer> {
  const onProgress: OnProgress = ({ message, elapsedMs }) => {
    const seconds = Math.round(elapsedMs / 1000);
    // In a log, where lines stay, every tenth second is enough.
    if (terminal.live || seconds % 10 < 2) terminal.progress(`  ${message} (${seconds} s)`);
  };
  const server = await demoServer({ home, environment, onProgress });
  closers.add(server.stop);
  return server;
}

interface Place {
  readonly address: string;
  readonly namespace: string;
  readonly model: Model;
  readonly config: Config;
}

async function serve(
  { home, taskQueue, closers, stop }: Omit<GoalStageOptions<never>, 'config'>,
  { model: { providers }, config, ...place }: Place,
): Promise<void> {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
    // Ctrl-C is ours: the demo stops its parts in order.
    shutdownSignals: [],
  });
  const worker = await startWorker({
    ...place,
    taskQueue,
    storePlace: storeFile(home),
    config,
    providers,
    shutdownGraceMs: 2_000,
  });
  const running = worker.run();
  running.catch((error: unknown) => stop.abort(error));
  closers.add(async () => {
    worker.shutdown();
    await running.catch(() => undefined);
  });
}

/** Written by the worker, read by the client. */
function storeFile(home: string): string {
  return join(home, 'store.db');
}
