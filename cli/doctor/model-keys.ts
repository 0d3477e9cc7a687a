/** The keys of models: those of this shell, and those that the workers have, which make the calls. */
import { howToReach } from '../../activities/model/model-provider.js';
import type { Config } from '../../authoring/index.js';
import { servedNow } from '../../store/lacking-runs.js';
import { storeExists } from '../../store/place.js';
import type { Environment } from '../../worker/config.js';
import { broken, ok, warning, type Check } from './check.js';

const NAME = 'model key';

export interface KeysPlace {
  readonly place: Environment;
  /** Of the workers. */
  readonly namespace: string;
  /** A worker asked the task queue for work. */
  readonly served: boolean;
}

export async function checkKeys(
  config: Config,
  { place, namespace, served }: KeysPlace,
): Promise<readonly Check[]> {
  const { ANY_MONEY, resolveRouteFor } = await import('../../providers/routes.js');
  const { providersOf } = await import('../../worker/providers.js');
  const here = new Set(providersOf(place, config).keys());
  const there = served ? await providersOfWorkers(place, namespace) : undefined;
  const wanted = new Set(
    [...config.agents.values()].map(
      (agent) => resolveRouteFor(agent.model, config, ANY_MONEY).provider,
    ),
  );
  return [...wanted].map((provider) =>
    keyCheck({ provider, mend: howToReach(provider, config), here, there, served }),
  );
}

export interface KeyFacts {
  readonly provider: string;
  readonly mend: string;
  /** Providers with a key in this shell. */
  readonly here: ReadonlySet<string>;
  /** Providers of the workers; undefined: they have not said. */
  readonly there: ReadonlySet<string> | undefined;
  readonly served: boolean;
}

/** The workers call models, so their keys decide; this shell's are those of the worker that it would start. */
export function keyCheck({ provider, mend, here, there, served }: KeyFacts): Check {
  const isHere = here.has(provider);
  if (there !== undefined) {
    if (there.has(provider)) {
      return ok(NAME, `${provider}: the worker has it${isHere ? '' : ', this shell has not'}`);
    }
    return isHere
      ? broken(
          NAME,
          `${provider}: set in this shell, and no worker has it`,
          'Start the worker anew from a shell that has the key.',
        )
      : broken(NAME, `${provider}: neither the worker nor this shell has it`, mend);
  }
  if (isHere) return ok(NAME, `${provider}: set in this shell`);
  return served
    ? warning(NAME, `${provider}: not set in this shell; the worker does not say what it has`, mend)
    : broken(NAME, `${provider}: not set in this shell, and no worker runs`, mend);
}

async function providersOfWorkers(
  { taskQueue, storePlace, storeSync }: Environment,
  namespace: string,
): Promise<ReadonlySet<string> | undefined> {
  if (!storeExists(storePlace)) return undefined;
  try {
    const { openStoreAt } = await import('../../store/store.js');
    const store = await openStoreAt(storePlace, storeSync);
    try {
      const codes = await servedNow(store, { namespace, taskQueue });
      if (codes.length === 0 || codes.some(({ incomplete }) => incomplete)) return undefined;
      return new Set(codes.flatMap(({ providers }) => providers));
    } finally {
      await store.close();
    }
  } catch {
    // What is wrong with the store is told elsewhere.
    return undefined;
  }
}
