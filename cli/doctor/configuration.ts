/** The configuration and the model keys that it needs. */
import { howToReach } from '../../activities/model/model-provider.js';
import type { Config } from '../../authoring/index.js';
import type { Environment } from '../../worker/config.js';
import { broken, guarded, ok, warning, type Check } from './check.js';

export interface ConfigurationPlace {
  readonly place: Environment;
  readonly folder: string;
  /** A worker is running, with an environment of its own. */
  readonly served: boolean;
}

export async function checkConfiguration(where: ConfigurationPlace): Promise<readonly Check[]> {
  const { place, folder } = where;
  const { findConfig, loadConfig } = await import('../../worker/load-config.js');
  const file = place.configFile ?? findConfig(folder);
  if (file === undefined) {
    return [
      warning(
        'configuration',
        `there is none in ${folder}`,
        'A worker needs one: holdfast.config.ts with export default defineConfig({ agents: […] }).',
      ),
    ];
  }
  const config = await loadConfig({ folder, file });
  const agents = [...config.agents.keys()];
  return [
    ok('configuration', `${file}: ${agents.join(', ')}`),
    ...(await guarded({ name: 'model key', look: () => checkKeys(config, where) })),
  ];
}

async function checkKeys(
  config: Config,
  { place, served }: ConfigurationPlace,
): Promise<readonly Check[]> {
  const { ANY_MONEY, resolveRouteFor } = await import('../../providers/routes.js');
  const { providersOf } = await import('../../worker/providers.js');
  const available = providersOf(place, config);
  const wanted = new Set(
    [...config.agents.values()].map(
      (agent) => resolveRouteFor(agent.model, config, ANY_MONEY).provider,
    ),
  );
  return [...wanted].map((provider) => {
    if (available.has(provider)) return ok('model key', `${provider}: set`);
    return served
      ? warning('model key', `${provider}: not set in this shell`, howToReach(provider, config))
      : broken('model key', `${provider}: not set`, howToReach(provider, config));
  });
}
