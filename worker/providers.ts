/** The model vendors that the environment gives credentials for, and the endpoints and models of the configuration. */
import type { Config, Endpoint, RequestOptions } from '../authoring/index.js';
import { createAiSdkProvider } from '../providers/ai-sdk.js';
import { createAnthropicProvider } from '../providers/anthropic.js';
import { createOpenAiChatProvider } from '../providers/openai-chat.js';
import { createOpenAiResponsesProvider } from '../providers/openai-responses.js';
import type { Provider } from '../providers/provider.js';
import { createScriptedProvider } from '../providers/scripted/provider.js';
import type { Environment } from './config.js';

/** Local servers ask for no key; the SDKs do. */
const NO_KEY = 'none';

/** What sends the requests; default: the global `fetch`. */
interface Sending {
  readonly fetch?: typeof fetch;
  /** Of one that speaks Messages. */
  readonly requestOptions?: RequestOptions[string];
}

/** Without a key there is no provider: a worker still serves, and a call of the model says what to do. */
export function providersOf(
  environment: Environment,
  {
    endpoints = [],
    models = new Map(),
    retiredModels = [],
    scripted,
    requestOptions = {},
    fetch: send,
  }: Partial<
    Pick<Config, 'endpoints' | 'models' | 'retiredModels' | 'scripted' | 'requestOptions'>
  > &
    Pick<Sending, 'fetch'> = {},
): ReadonlyMap<string, Provider> {
  const { anthropic, openai, litellm } = environment;
  const sending = send === undefined ? {} : { fetch: send };
  const providers: Provider[] = [];
  if (anthropic.apiKey !== undefined) {
    const { apiKey } = anthropic;
    const besides = besidesOf(requestOptions, 'anthropic');
    providers.push(createAnthropicProvider({ ...anthropic, ...sending, ...besides, apiKey }));
  }
  if (openai.apiKey !== undefined) {
    const settings = { ...openai, ...sending, apiKey: openai.apiKey };
    providers.push(createOpenAiChatProvider(settings), createOpenAiResponsesProvider(settings));
  }
  if (litellm.baseUrl !== undefined) {
    const apiKey = litellm.apiKey ?? NO_KEY;
    const settings = {
      ...litellm,
      ...sending,
      apiKey,
      name: 'litellm',
      dialect: 'litellm',
    } as const;
    providers.push(createOpenAiChatProvider(settings));
  }
  if (scripted !== undefined) providers.push(createScriptedProvider(scripted));
  for (const endpoint of endpoints) {
    const besides = besidesOf(requestOptions, endpoint.name);
    const provider = providerOf(endpoint, environment, { ...sending, ...besides });
    if (provider !== undefined) providers.push(provider);
  }
  for (const { route, model, providerOptions } of [...models.values(), ...retiredModels]) {
    const options = providerOptions === undefined ? {} : { providerOptions };
    providers.push(createAiSdkProvider({ name: route.provider, model, ...options }));
  }
  return new Map(providers.map((provider) => [provider.name, provider]));
}

function besidesOf(options: RequestOptions, name: string): Pick<Sending, 'requestOptions'> {
  const requestOptions = Object.hasOwn(options, name) ? options[name] : undefined;
  return requestOptions === undefined ? {} : { requestOptions };
}

function providerOf(
  endpoint: Endpoint,
  { secret }: Environment,
  sending: Sending,
): Provider | undefined {
  const { name, protocol, baseUrl, keyVariable, dialect = 'gateway' } = endpoint;
  const apiKey = keyVariable === undefined ? NO_KEY : secret(keyVariable);
  if (apiKey === undefined) return undefined;
  const settings = { name, apiKey, baseUrl, ...sending };
  switch (protocol) {
    case 'messages':
      return createAnthropicProvider(settings);
    case 'chat':
      return createOpenAiChatProvider({
        ...settings,
        dialect: dialect === 'gateway' ? 'litellm' : dialect,
      });
    case 'responses':
      // What a server of one's own keeps is not known: every request is whole.
      return createOpenAiResponsesProvider({ ...settings, storeResponses: false });
  }
}
