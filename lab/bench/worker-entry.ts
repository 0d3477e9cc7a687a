/**
 * Entry of a worker process of its own, of either side: its settings are one JSON argument. It tells its
 * parent when it serves, and measures itself when asked.
 */
import { z } from 'zod';
import { createAnthropicProvider } from '../../providers/anthropic.js';
import { startWorker } from '../../worker/index.js';
import { createBareWorker } from './bare/worker.js';
import { keepQuiet } from '../../replay/keep-quiet.js';
import { benchConfig, NOWHERE, outsideAt } from './setting.js';

const settingsSchema = z.object({
  side: z.enum(['bare', 'held']),
  address: z.string(),
  taskQueue: z.string(),
  modelUrl: z.string(),
  /** Names of the tools that the bare loop offers. */
  tools: z.array(z.string()),
  storePlace: z.string(),
  storeSync: z.enum(['each', 'shared']).optional(),
  /** The bare loop's prebuilt bundle. */
  bundleFile: z.string(),
  /** What the tools visit. */
  outsideUrl: z.string().optional(),
  stickyTimeoutMs: z.number().optional(),
  maxCachedWorkflows: z.number().optional(),
});

export type WorkerSettings = z.infer<typeof settingsSchema>;

export type ToWorker = 'measure' | 'collect and measure' | 'processor';

export type FromWorker =
  | { readonly type: 'serving' }
  | { readonly type: 'memory'; readonly rssBytes: number }
  /** User and system time of all threads since the process began. */
  | { readonly type: 'processor'; readonly cpuMs: number };

async function main(): Promise<void> {
  const settings = settingsSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
  const worker = await (settings.side === 'bare' ? bareWorker(settings) : heldWorker(settings));
  process.on('message', (request: ToWorker) => {
    if (request === 'processor') {
      const { user, system } = process.cpuUsage();
      return tell({ type: 'processor', cpuMs: (user + system) / 1_000 });
    }
    if (request === 'collect and measure') (globalThis as { readonly gc?: () => void }).gc?.();
    tell({ type: 'memory', rssBytes: process.memoryUsage().rss });
  });
  // The parent's death ends it too.
  process.on('disconnect', () => process.exit(0));
  const served = worker.run();
  tell({ type: 'serving' });
  await served;
}

function tell(message: FromWorker): void {
  process.send?.(message);
}

interface Served {
  run(): Promise<void>;
}

function bareWorker(settings: WorkerSettings): Promise<Served> {
  // A Holdfast worker does so by itself.
  keepQuiet();
  const { outsideUrl, bundleFile } = settings;
  return createBareWorker({
    ...settings,
    workflowBundle: { codePath: bundleFile },
    outside: outsideUrl === undefined ? NOWHERE : outsideAt(outsideUrl),
  });
}

function heldWorker(settings: WorkerSettings): Promise<Served> {
  const { outsideUrl, modelUrl, storeSync, stickyTimeoutMs, maxCachedWorkflows } = settings;
  const provider = createAnthropicProvider({ apiKey: 'bench', baseUrl: modelUrl });
  return startWorker({
    address: settings.address,
    namespace: 'default',
    taskQueue: settings.taskQueue,
    storePlace: settings.storePlace,
    ...(storeSync !== undefined && { storeSync }),
    config: benchConfig(outsideUrl === undefined ? NOWHERE : outsideAt(outsideUrl)),
    providers: new Map([[provider.name, provider]]),
    ...(stickyTimeoutMs !== undefined && { stickyTimeoutMs }),
    ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }),
  });
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
