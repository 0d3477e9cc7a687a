/**
 * Entry of a worker process of its own: settings as one JSON argument, commands and reports of the crash kit
 * (crash/protocol.ts) on its standard streams.
 */
import { once } from 'node:events';
import { z } from 'zod';
import type { Config } from '../authoring/index.js';
import { createAnthropicProvider } from '../providers/anthropic.js';
import { startWorker } from '../worker/index.js';
import { crashable } from './crash/crashable.js';
import { tell } from './crash/stand-still.js';

const settingsSchema = z.strictObject({
  address: z.string(),
  namespace: z.string(),
  taskQueue: z.string(),
  storePlace: z.string(),
  storeSync: z.enum(['each', 'shared']).optional(),
  /** Module that exports `config`, or a function `config(options)`. */
  configModule: z.string(),
  configOptions: z.json().optional(),
  modelUrl: z.string(),
  /** Longest silence of the model, in ms; default: the provider's. */
  modelStallMs: z.number().optional(),
  stickyTimeoutMs: z.number().optional(),
  maxCachedWorkflows: z.number().optional(),
  logLevel: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']).optional(),
});

export type WorkerEntrySettings = z.infer<typeof settingsSchema>;

interface ConfigModule {
  readonly config: Config | ((options: unknown) => Config);
}

async function main(): Promise<void> {
  const settings = settingsSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
  const { configModule, configOptions, modelUrl, modelStallMs, stickyTimeoutMs, ...place } =
    settings;
  // A process of its own has to load what its parent names.
  const loaded = require(configModule) as ConfigModule;
  const config = typeof loaded.config === 'function' ? loaded.config(configOptions) : loaded.config;
  // The parent's death ends it too, whatever became of the parent.
  const orphaned = once(process.stdin, 'end');
  const kit = crashable(process.stdin);
  const provider = createAnthropicProvider({
    apiKey: 'scripted',
    baseUrl: modelUrl,
    fetch: kit.fetch,
    ...(modelStallMs !== undefined && { stallMs: modelStallMs }),
  });
  const worker = await startWorker({
    address: place.address,
    namespace: place.namespace,
    taskQueue: place.taskQueue,
    storePlace: place.storePlace,
    ...(place.storeSync && { storeSync: place.storeSync }),
    config,
    providers: new Map([[provider.name, provider]]),
    logLevel: place.logLevel ?? 'ERROR',
    shutdownGraceMs: 2_000,
    ...kit.settings,
    ...(stickyTimeoutMs !== undefined && { stickyTimeoutMs }),
    ...(place.maxCachedWorkflows !== undefined && {
      maxCachedWorkflows: place.maxCachedWorkflows,
    }),
  });
  void orphaned.then(() => worker.shutdown());
  const served = worker.run();
  tell({ type: 'serving', taskQueue: place.taskQueue });
  await served;
}

main().then(
  // The pipe from the parent would keep a worker that has drained alive.
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
