/** Running a worker in the foreground until a signal; running work is drained first. */
import { queuesOf, type Config, type WorkerTuning } from '../authoring/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { shownPlace, storeExists } from '../store/place.js';
import type { Environment } from '../worker/config.js';
import type { KnownReach } from './session.js';
import type { Output } from './terminal/output.js';

export interface ServeOptions {
  readonly place: Environment;
  readonly reach: KnownReach;
  readonly config: Config;
  /** Default: workflows and activities. */
  readonly serves?: 'workflows' | 'activities';
  /** A queue of tools, in place of the one of runs. */
  readonly queue?: string;
  /** The queues of tools are served by the same process; default: others have to be started for them. */
  readonly servesQueues?: true;
  /** Where the environment does not say: whether workflow code keeps stack traces, at the price of its speed. */
  readonly stackTraces?: boolean;
  /** In place of what the configuration says. */
  readonly tuning?: WorkerTuning;
  /** Ends the worker as a signal would. */
  readonly signal: AbortSignal;
}

/** The configuration, before anything is started: its errors are the likeliest. */
export async function readConfig(place: Environment, folder: string): Promise<Config> {
  const { loadConfig } = await import('../worker/load-config.js');
  const { configFile, withoutConfig } = place;
  if (withoutConfig) {
    throw new HoldfastError(
      'InvalidConfig',
      'HOLDFAST_CONFIG=none is for commands that serve nothing.',
      {
        hint: 'Name the configuration, or unset HOLDFAST_CONFIG.',
      },
    );
  }
  return loadConfig({ folder, ...(configFile !== undefined && { file: configFile }) });
}

/** Prepares the namespace and serves; resolves when the worker has drained. */
export async function serveWorker(options: ServeOptions, output: Output): Promise<void> {
  const { place, reach, config, signal } = options;
  const { storePlace } = place;
  const { serves, queue, tuning, stackTraces = false } = options;
  const taskQueue = queue ?? place.taskQueue;
  await prepareNamespace(options);
  const { startWorker, providersOf } = await import('../worker/index.js');
  const { unreachableModels } = await import('../worker/unreachable-models.js');
  const providers = providersOf(place, config);
  for (const line of unreachableModels(config, providers)) output.remark(line);
  const say = (line: string): void => output.remark(line);
  const isNew = !storeExists(storePlace);
  const worker = await startWorker({
    ...reach,
    ...tuning,
    taskQueue,
    storePlace,
    providers,
    config,
    say,
    stackTraces: place.stackTraces ?? stackTraces,
    ...(serves !== undefined && { serves }),
  });
  const agents = [...config.agents.keys()];
  const store = shownPlace(storePlace);
  const { address } = reach;
  output.data({ serving: agents, address, taskQueue, store });
  const part = serves === undefined ? '' : `${serves} of `;
  output.line(`Worker           serves ${part}${agents.join(', ')} on task queue ${taskQueue}`);
  for (const line of queueLines(options)) output.remark(line);
  output.line(`Store            ${store}${isNew ? ' (made now: there was none)' : ''}`);
  const served = worker.run();
  // A worker can be told to end only once it runs.
  signal.addEventListener('abort', () => worker.shutdown(), { once: true });
  if (signal.aborted) worker.shutdown();
  await served;
  output.remark('The worker has drained.');
}

/** Queues that tools name are served by whoever is told to: what is dangerous runs nowhere by accident. */
function queueLines({ config, queue, serves, servesQueues }: ServeOptions): readonly string[] {
  const named = queuesOf(config.tools.values());
  if (queue !== undefined) {
    const isNamed = named.some(([name]) => name === queue);
    return isNamed ? [] : [`No tool of this configuration names the task queue ${queue}.`];
  }
  if (serves === 'workflows' || servesQueues) return [];
  return named.map(
    ([queue, names]) =>
      `Calls of ${names.slice(0, 5).join(', ')} go to the task queue ${queue}: run \`holdfast worker --only activities --queue ${queue}\`.`,
  );
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
