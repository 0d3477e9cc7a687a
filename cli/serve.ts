/** Running a worker in the foreground until a signal; running work is drained first. */
import type { Config } from '../authoring/index.js';
import { shownPlace, storeExists } from '../store/place.js';
import type { Environment } from '../worker/config.js';
import type { KnownReach } from './session.js';
import type { Output } from './terminal/output.js';

export interface ServeOptions {
  readonly place: Environment;
  readonly reach: KnownReach;
  readonly config: Config;
  /** Ends the worker as a signal would. */
  readonly signal: AbortSignal;
}

/** The configuration, before anything is started: its errors are the likeliest. */
export async function readConfig(place: Environment, folder: string): Promise<Config> {
  const { loadConfig } = await import('../worker/load-config.js');
  const { configFile } = place;
  return loadConfig({ folder, ...(configFile !== undefined && { file: configFile }) });
}

/** Prepares the namespace and serves; resolves when the worker has drained. */
export async function serveWorker(options: ServeOptions, output: Output): Promise<void> {
  const { place, reach, config, signal } = options;
  const { taskQueue, storePlace } = place;
  await prepareNamespace(options);
  const { startWorker, providersOf } = await import('../worker/index.js');
  const { unreachableModels } = await import('../worker/unreachable-models.js');
  const providers = providersOf(place, config);
  for (const line of unreachableModels(config, providers)) output.remark(line);
  const say = (line: string): void => output.remark(line);
  const isNew = !storeExists(storePlace);
  const worker = await startWorker({ ...reach, taskQueue, storePlace, providers, config, say });
  const agents = [...config.agents.keys()];
  const store = shownPlace(storePlace);
  const { address } = reach;
  output.data({ serving: agents, address, taskQueue, store });
  output.line(`Worker           serves ${agents.join(', ')} on task queue ${taskQueue}`);
  output.line(`Store            ${store}${isNew ? ' (made now: there was none)' : ''}`);
  const served = worker.run();
  // A worker can be told to end only once it runs.
  signal.addEventListener('abort', () => worker.shutdown(), { once: true });
  if (signal.aborted) worker.shutdown();
  await served;
  output.remark('The worker has drained.');
}

async function prepareNamespace({ reach }: ServeOptions): Promise<void> {
  const { connect } = await import('../client/index.js');
  const { renew: _, ...once } = reach;
  const client = await connect(once);
  try {
    await client.ensureNamespaceReady();
  } finally {
    await client.close();
  }
}
