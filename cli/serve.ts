/** Running workers in the foreground until a signal; running work is drained first. */
import {
  queuesOf,
  sandboxQueueOf,
  sandboxTools,
  type Config,
  type WorkerTuning,
} from '../authoring/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { findIsolation, requireIsolation } from '../sandbox/isolation.js';
import { shownPlace, storeExists } from '../store/place.js';
import type { Environment } from '../worker/config.js';
import type { RunningWorker, WorkerSettings } from '../worker/index.js';
import type { KnownReach } from './session.js';
import type { Output } from './terminal/output.js';

/** What a worker serves, when it does not serve everything. */
export type WorkerPart = 'workflows' | 'activities' | 'sandbox';

export interface ServeOptions {
  readonly place: Environment;
  readonly reach: KnownReach;
  readonly config: Config;
  /** Default: workflows and activities. 'sandbox': calls in a sandbox alone. */
  readonly serves?: WorkerPart;
  /** A queue of tools, in place of the one of runs. */
  readonly queue?: string;
  /** The queues of tools are served by the same process; default: others have to be started for them. */
  readonly servesQueues?: true;
  /** Where the environment does not say: whether workflow code keeps stack traces, at the price of its speed. */
  readonly stackTraces?: boolean;
  /** In place of what the configuration says. */
  readonly tuning?: WorkerTuning;
  /** Where the metrics of Temporal's SDK are; absent: nowhere. */
  readonly metricsAddress?: string | undefined;
  /** Where commands are looked for; default: the folders of the system. */
  readonly path?: string | undefined;
  /** What stands in place of the activities. */
  readonly activities?: WorkerSettings['activities'];
  /** Hears of each worker that serves from now on. */
  readonly serving?: (worker: RunningWorker) => void;
  /** Another worker of this process says what is served. */
  readonly beside?: true;
  /** Ends the worker as a signal would. */
  readonly signal: AbortSignal;
}

/**
 * A worker for runs, one for calls in a sandbox where they go to a queue of their own, and with `servesQueues` one for each
 * queue that a tool names: where one fails the others drain, too.
 */
export async function serveAll(serving: ServeOptions, output: Output): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([serving.signal, failed.signal]);
  const own = { ...serving, signal };
  const queues = serving.servesQueues ? queuesOf(serving.config.tools.values()) : [];
  const workers = [
    serveWorker(own, output),
    ...(servesSandbox(serving, output)
      ? [serveWorker({ ...own, serves: 'sandbox', beside: true }, output)]
      : []),
    ...queues.map(([queue]) => serveQueue({ ...own, queue }, output)),
  ];
  for (const worker of workers) worker.catch(() => failed.abort());
  const ended = await Promise.allSettled(workers);
  const fault = ended.find((one) => one.status === 'rejected');
  if (fault !== undefined) throw fault.reason;
}

/** A worker for a queue that tools name. */
export function serveQueue(
  serving: ServeOptions & { readonly queue: string },
  output: Output,
): Promise<void> {
  return serveWorker({ ...serving, serves: 'activities' }, output);
}

/** Whether a worker that serves everything serves calls in a sandbox, too: not where it cannot isolate them. */
function servesSandbox({ config, serves, queue, path }: ServeOptions, output: Output): boolean {
  const tools = sandboxTools(config.tools.values());
  if (serves !== undefined || queue !== undefined || tools.length === 0) return false;
  const isolated = tools.filter((tool) => tool.isolated === true);
  const found = isolated.length === 0 ? undefined : findIsolation(path);
  if (found?.kind !== 'missing') return true;
  output.remark(
    `Nothing can be isolated here: ${found.because}. Calls of ${namesOf(tools)} wait for a worker that can: holdfast worker --only sandbox.`,
  );
  return false;
}

/** Errors: InvalidConfig: the calls could not be isolated. Those of a tool with a sandbox of its own need nothing. */
export function requireSandbox({ config, path }: Pick<ServeOptions, 'config' | 'path'>): void {
  const tools = sandboxTools(config.tools.values());
  const haveTheirOwn = tools.length > 0 && tools.every((tool) => tool.isolated !== true);
  if (!haveTheirOwn) requireIsolation(findIsolation(path));
}

function namesOf(tools: readonly { readonly record: { readonly name: string } }[]): string {
  return tools
    .slice(0, NAMES_MAX)
    .map(({ record }) => record.name)
    .join(', ');
}

const NAMES_MAX = 5;

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
async function serveWorker(options: ServeOptions, output: Output): Promise<void> {
  const { place, reach, config, signal, path } = options;
  const { storePlace, storeSync } = place;
  const { serves, tuning, stackTraces = false } = options;
  const taskQueue = queueOf(options);
  await prepareNamespace(options);
  const { startWorker, providersOf } = await import('../worker/index.js');
  const { unreachableModels } = await import('../worker/unreachable-models.js');
  const providers = providersOf(place, config);
  if (!options.beside) for (const line of unreachableModels(config, providers)) output.remark(line);
  const say = (line: string): void => output.remark(line);
  const isNew = !storeExists(storePlace);
  const worker = await startWorker({
    ...reach,
    ...tuning,
    taskQueue,
    sandboxQueue: sandboxQueueOf(place.taskQueue),
    ...(needsIsolation(config) && { isolation: findIsolation(path) }),
    storePlace,
    ...(storeSync && { storeSync }),
    providers,
    config,
    say,
    stackTraces: place.stackTraces ?? stackTraces,
    ...(options.metricsAddress !== undefined && { metricsAddress: options.metricsAddress }),
    ...(options.activities !== undefined && { activities: options.activities }),
    ...(serves !== undefined && { serves: serves === 'sandbox' ? 'activities' : serves }),
  });
  tellServed({ ...options, taskQueue, isNew }, output);
  const served = worker.run();
  options.serving?.(worker);
  // A worker can be told to end only once it runs.
  signal.addEventListener('abort', () => worker.shutdown(), { once: true });
  if (signal.aborted) worker.shutdown();
  await served;
  if (!options.beside) output.remark('The worker has drained.');
}

function queueOf({ queue, serves, place: { taskQueue } }: ServeOptions): string {
  return queue ?? (serves === 'sandbox' ? sandboxQueueOf(taskQueue) : taskQueue);
}

function needsIsolation({ tools }: Config): boolean {
  return [...tools.values()].some((tool) => tool.isolated === true);
}

interface Served extends ServeOptions {
  readonly taskQueue: string;
  /** Its store was made now. */
  readonly isNew: boolean;
}

function tellServed(options: Served, output: Output): void {
  const { config, serves, reach, place, taskQueue, isNew, beside } = options;
  const agents = [...config.agents.keys()];
  const store = shownPlace(place.storePlace);
  if (serves === 'sandbox') {
    const tools = sandboxTools(config.tools.values());
    const calls = tools.length === 0 ? 'no tool of this configuration' : namesOf(tools);
    output.line(`Sandbox          serves calls of ${calls} on task queue ${taskQueue}`);
  }
  if (beside) return;
  const { address } = reach;
  output.data({ serving: agents, address, taskQueue, store });
  if (serves !== 'sandbox') {
    const part = serves === undefined ? '' : `${serves} of `;
    output.line(`Worker           serves ${part}${agents.join(', ')} on task queue ${taskQueue}`);
  }
  for (const line of queueLines(options)) output.remark(line);
  output.line(`Store            ${store}${isNew ? ' (made now: there was none)' : ''}`);
}

/** Queues that tools name are served by whoever is told to: what is dangerous runs nowhere by accident. */
function queueLines(options: ServeOptions): readonly string[] {
  const { config, queue, serves, servesQueues, place } = options;
  const named = queuesOf(config.tools.values());
  if (queue !== undefined) {
    const isNamed = named.some(([name]) => name === queue);
    return isNamed ? [] : [`No tool of this configuration names the task queue ${queue}.`];
  }
  if (serves === 'workflows' || serves === 'sandbox' || servesQueues) return [];
  const lines = named.map(
    ([name, names]) =>
      `Calls of ${names.slice(0, NAMES_MAX).join(', ')} go to the task queue ${name}: run \`holdfast worker --only activities --queue ${name}\`.`,
  );
  const tools = sandboxTools(config.tools.values());
  if (serves !== 'activities' || tools.length === 0) return lines;
  const sandbox = sandboxQueueOf(place.taskQueue);
  return [
    ...lines,
    `Calls of ${namesOf(tools)} in a sandbox go to the task queue ${sandbox}: run \`holdfast worker --only sandbox\`.`,
  ];
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
