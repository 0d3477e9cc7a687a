/** The provider behind a route, or the error that says what to do when this worker has none. */
import type { Config } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { ModelRoute } from '../../core/state/model.js';
import type { Provider } from '../../providers/provider.js';
import type { InTransaction } from '../deps.js';

/** What the environment needs for a provider that is built in. */
const KEY_VARIABLES: ReadonlyMap<string, string> = new Map([
  ['anthropic', 'ANTHROPIC_API_KEY'],
  ['openai', 'OPENAI_API_KEY'],
  ['openai-responses', 'OPENAI_API_KEY'],
  ['litellm', 'LITELLM_BASE_URL'],
]);

export function providerOf(
  { providers, config }: InTransaction,
  route: ModelRoute,
): Provider | HoldfastError {
  const provider = providers.get(route.provider);
  if (provider !== undefined) return provider;
  return new HoldfastError('AuthError', `This worker cannot reach ${route.provider}.`, {
    hint: howToReach(route.provider, config),
  });
}

/** Undefined: no variable gives access to it. */
export function keyVariableOf(
  provider: string,
  { endpoints }: Pick<Config, 'endpoints'>,
): string | undefined {
  return (
    KEY_VARIABLES.get(provider) ?? endpoints.find(({ name }) => name === provider)?.keyVariable
  );
}

/** What a worker lacks that has no provider of this name. */
export function howToReach(provider: string, config: Pick<Config, 'endpoints'>): string {
  const variable = keyVariableOf(provider, config);
  return variable === undefined
    ? howToDeclare(provider)
    : `Set ${variable} for the worker and restart it.`;
}

/** Models of a configuration are reached by their name and their id (authoring/language-models.ts). */
function howToDeclare(provider: string): string {
  const [name, ...id] = provider.split(':');
  return id.length === 0
    ? `Declare an endpoint named ${provider} in the configuration, or give the worker a provider of that name.`
    : `Give the configuration of a worker the model ${name} with the id ${id.join(':')}: in \`models\`, or in \`retiredModels\` when the name has another model now.`;
}
