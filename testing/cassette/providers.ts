/** The vendors of a configuration, over a cassette: with their keys while it is recorded, without any afterwards. */
import { keyVariableOf } from '../../activities/model/model-provider.js';
import type { Config } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Provider } from '../../providers/provider.js';
import { ANY_MONEY, resolveRouteFor } from '../../providers/routes.js';
import { readEnvironment, type Environment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import type { OpenCassette } from './cassette.js';

/** Stands for a key that nobody looks at. */
const NO_KEY = 'replayed';

interface Cast {
  readonly config: Config;
  /** Whose vendor is asked first. */
  readonly agent: string;
}

/** Errors: ModelKeyMissing, before anything is recorded. */
export function cassetteProviders(
  { config, agent }: Cast,
  cassette: OpenCassette,
  fail: (error: HoldfastError) => void,
): ReadonlyMap<string, Provider> {
  const environment = readEnvironment();
  const providers = providersOf(cassette.records ? environment : keyless(environment), {
    endpoints: config.endpoints,
    fetch: cassette.fetchFor(fail),
  });
  if (cassette.records) requireAccess({ config, agent }, providers);
  return providers;
}

function requireAccess({ config, agent }: Cast, providers: ReadonlyMap<string, Provider>): void {
  const model = config.agents.get(agent)?.model;
  if (model === undefined) return;
  const { provider } = resolveRouteFor(model, config, ANY_MONEY);
  const variable = keyVariableOf(provider, config);
  if (variable === undefined || providers.has(provider)) return;
  throw new HoldfastError('ModelKeyMissing', `The model ${model} needs access to ${provider}.`, {
    hint: `Set ${variable} where the cassette is recorded.`,
  });
}

function keyless(environment: Environment): Environment {
  return {
    ...environment,
    anthropic: { apiKey: NO_KEY },
    openai: { apiKey: NO_KEY },
    litellm: { apiKey: NO_KEY, baseUrl: 'http://localhost/v1' },
    secret: () => NO_KEY,
  };
}
