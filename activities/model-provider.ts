/** The provider behind a route, or the error that says what to do when this worker has none. */
import { HoldfastError } from '../core/errors.js';
import type { ModelRoute } from '../core/model.js';
import type { Provider } from '../providers/provider.js';
import type { InTransaction } from './deps.js';

/** What the environment needs for a provider that is built in. */
export const KEY_VARIABLES: ReadonlyMap<string, string> = new Map([
  ['anthropic', 'ANTHROPIC_API_KEY'],
  ['openai', 'OPENAI_API_KEY'],
  ['openai-responses', 'OPENAI_API_KEY'],
  ['litellm', 'LITELLM_BASE_URL'],
]);

export function providerOf(
  { providers }: InTransaction,
  route: ModelRoute,
): Provider | HoldfastError {
  const provider = providers.get(route.provider);
  if (provider !== undefined) return provider;
  const variable = KEY_VARIABLES.get(route.provider);
  return new HoldfastError('AuthError', `This worker cannot reach ${route.provider}.`, {
    hint:
      variable === undefined
        ? `Give the worker a provider named ${route.provider}.`
        : `Set ${variable} for the worker and restart it.`,
  });
}
