/** The vendors of a configuration, over a cassette: with their keys while it is recorded, without any afterwards. */
import type { Config } from '../../authoring/index.js';
import type { HoldfastError } from '../../core/state/errors.js';
import type { Provider } from '../../providers/provider.js';
import { readEnvironment, type Environment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import type { OpenCassette } from './cassette.js';

/** Stands for a key that nobody looks at. */
const NO_KEY = 'replayed';

export function cassetteProviders(
  config: Config,
  cassette: OpenCassette,
  fail: (error: HoldfastError) => void,
): ReadonlyMap<string, Provider> {
  const environment = readEnvironment();
  return providersOf(cassette.records ? environment : keyless(environment), {
    endpoints: config.endpoints,
    fetch: cassette.fetchFor(fail),
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
