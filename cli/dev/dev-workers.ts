/** The workers of `holdfast dev`: one for runs, and one for each queue that tools name, now or after a save. */
import { queuesOf, type Config } from '../../authoring/index.js';
import type { Provider } from '../../providers/provider.js';
import type { Environment } from '../../worker/config.js';
import { serveAll, serveQueue, type ServeOptions } from '../serve.js';
import type { Output } from '../terminal/output.js';
import type { LiveCode } from './live-code.js';

/** Made anew with each code: endpoints and scripts are its own. */
export async function providersOf(
  place: Environment,
  config: Config,
): Promise<ReadonlyMap<string, Provider>> {
  const { providersOf: make } = await import('../../worker/index.js');
  return make(place, config);
}

export interface DevWorkers {
  /** Whether the first of them serves; false: there will be none. */
  readonly ready: Promise<boolean>;
  /** Until all have drained. */
  serve(config: Config): Promise<void>;
  /** One more for each queue that nobody serves yet. */
  serveQueuesOf(config: Config): void;
}

export function devWorkers(serving: ServeOptions, live: LiveCode, output: Output): DevWorkers {
  const queues = new Set<string>();
  const more: Promise<void>[] = [];
  let tellReady: (isServing: boolean) => void = () => undefined;
  const ready = new Promise<boolean>((resolve) => (tellReady = resolve));
  const own: ServeOptions = {
    ...serving,
    serving(worker) {
      live.join(worker);
      tellReady(true);
    },
  };
  const newQueues = ({ tools }: Config): readonly string[] =>
    queuesOf(tools.values())
      .map(([queue]) => queue)
      .filter((queue) => !queues.has(queue));
  return {
    ready,
    async serve(config) {
      for (const queue of newQueues(config)) queues.add(queue);
      try {
        await serveAll(own, output);
        await Promise.all(more);
      } finally {
        tellReady(false);
      }
    },
    serveQueuesOf(config) {
      for (const queue of newQueues(config)) {
        queues.add(queue);
        const worker = serveQueue({ ...own, config, queue }, output);
        more.push(worker.catch((error: unknown) => output.failure(error)));
      }
    },
  };
}
