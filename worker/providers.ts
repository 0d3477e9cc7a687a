/** The model vendors that the environment gives credentials for. */
import { createAnthropicProvider } from '../providers/anthropic.js';
import type { Provider } from '../providers/provider.js';
import type { Environment } from './config.js';

/** Without a key there is no provider: a worker still serves, and a call of the model says what to do. */
export function providersOf({ anthropic }: Environment): ReadonlyMap<string, Provider> {
  const { apiKey, baseUrl } = anthropic;
  if (apiKey === undefined) return new Map();
  const provider = createAnthropicProvider({
    apiKey,
    ...(baseUrl !== undefined && { baseUrl }),
  });
  return new Map([[provider.name, provider]]);
}
