/** The model vendors that the environment gives credentials for, and the endpoints of the configuration. */
import type { Config, Endpoint } from '../authoring/index.js';
import { createAnthropicProvider } from '../providers/anthropic.js';
import { createOpenAiChatProvider } from '../providers/openai-chat.js';
import { createOpenAiResponsesProvider } from '../providers/openai-responses.js';
import type { Provider } from '../providers/provider.js';
import { createScriptedProvider } from '../providers/scripted/provider.js';
import type { Environment } from './config.js';

/** Local servers ask for no key; the SDKs do. */
const NO_KEY = 'none';

/** Without a key there is no provider: a worker still serves, and a call of the model says what to do. */
export function providersOf(
  environment: Environment,
  { endpoints = [], scripted }: Partial<Pick<Config, 'endpoints' | 'scripted'>> = {},
): ReadonlyMap<string, Provider> {
  const { anthropic, openai, litellm } = environment;
  const providers: Provider[] = [];
  if (anthropic.apiKey !== undefined) {
    providers.push(createAnthropicProvider({ ...anthropic, apiKey: anthropic.apiKey }));
  }
  if (openai.apiKey !== undefined) {
    const settings = { ...openai, apiKey: openai.apiKey };
    providers.push(createOpenAiChatProvider(settings), createOpenAiResponsesProvider(settings));
  }
  if (litellm.baseUrl !== undefined) {
    const apiKey = litellm.apiKey ?? NO_KEY;
    const settings = { ...litellm, apiKey, name: 'litellm', dialect: 'litellm' } as const;
    providers.push(createOpenAiChatProvider(settings));
  }
  if (scripted !== undefined) providers.push(createScriptedProvider(scripted));
  for (const endpoint of endpoints) {
    const provider = providerOf(endpoint, environment);
    if (provider !== undefined) providers.push(provider);
  }
  return new Map(providers.map((provider) => [provider.name, provider]));
}

function providerOf(endpoint: Endpoint, { secret }: Environment): Provider | undefined {
  const { name, protocol, baseUrl, keyVariable } = endpoint;
  const apiKey = keyVariable === undefined ? NO_KEY : secret(keyVariable);
  if (apiKey === undefined) return undefined;
  const settings = { name, apiKey, baseUrl };
  switch (protocol) {
    case 'messages':
      return createAnthropicProvider(settings);
    case 'chat':
      return createOpenAiChatProvider({ ...settings, dialect: 'litellm' });
    case 'responses':
      // What a server of one's own keeps is not known: every request is whole.
      return createOpenAiResponsesProvider({ ...settings, storeResponses: false });
  }
}
