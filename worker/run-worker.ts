/** A whole worker process: environment, configuration, worker, until it is told to stop. */
import { isConfig, type Config } from '../authoring/index.js';
import { CALLBACK, checkOptions, FIELDS, TEXT, type OptionRules } from '../pure/options.js';
import { readEnvironment } from './config.js';
import { loadConfig } from './load-config.js';
import { startProbes } from './probes.js';
import { providersOf } from './providers.js';
import { withoutName } from './reach.js';
import { unreachableModels } from './unreachable-models.js';
import { checkSettings, startWorker, type WorkerSettings } from './worker.js';

export interface WorkerProcessOptions {
  /** Default: `HOLDFAST_CONFIG`, else `holdfast.config.*` in `folder`. */
  readonly config?: Config;
  /** Default: the working directory. */
  readonly folder?: string;
  /** What a person at the terminal should know. */
  readonly say?: (line: string) => void;
  /** In place of what the environment says. */
  readonly settings?: Partial<Omit<WorkerSettings, 'config'>>;
}

const RULES: OptionRules<WorkerProcessOptions> = {
  config: { is: 'what defineConfig gives', fits: isConfig },
  folder: TEXT,
  say: CALLBACK,
  settings: FIELDS,
};

/** Serves until SIGINT or SIGTERM, then drains and returns. Errors: as `startWorker`. */
export async function runWorkerProcess(options: WorkerProcessOptions = {}): Promise<void> {
  checkOptions('runWorkerProcess', options, RULES);
  const { folder = process.cwd(), say = () => undefined } = options;
  const environment = readEnvironment(undefined, folder);
  const { configFile } = environment;
  const config =
    options.config ??
    (await loadConfig({ folder, ...(configFile !== undefined && { file: configFile }) }));
  const { taskQueue, storePlace, storeSync, stackTraces = false } = environment;
  const { metricsAddress, probeAddress } = environment;
  const providers = providersOf(environment, config);
  const reach = withoutName(environment.reach(config.connection));
  const store = { storePlace, ...(storeSync && { storeSync }) };
  const settings = {
    ...reach,
    taskQueue,
    ...store,
    providers,
    stackTraces,
    ...(metricsAddress !== undefined && { metricsAddress }),
    ...options.settings,
  };
  const whole = { say, ...settings, config };
  checkSettings(whole);
  for (const line of unreachableModels(config, settings.providers)) say(line);
  const probes = probeAddress ? await startProbes(probeAddress) : undefined;
  try {
    const worker = await startWorker(whole);
    const agents = [...config.agents.keys()].join(', ');
    say(`Serving ${agents} on ${settings.taskQueue} at ${settings.address}.`);
    const served = worker.run();
    probes?.watch(worker);
    await served;
  } finally {
    await probes?.close();
  }
}
