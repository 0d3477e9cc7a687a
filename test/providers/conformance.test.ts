import { createAnthropic } from '@ai-sdk/anthropic';
import { createAiSdkProvider } from '../../providers/ai-sdk.js';
import { createAnthropicProvider } from '../../providers/anthropic.js';
import { createOpenAiChatProvider } from '../../providers/openai-chat.js';
import { createOpenAiResponsesProvider } from '../../providers/openai-responses.js';
import type { Provider } from '../../providers/provider.js';
import type { StallLimits } from '../../providers/stall-watch.js';
import {
  providerChecks,
  readChatBody,
  readMessagesBody,
  readResponsesBody,
  type ProviderUnderTest,
} from '../../testing/conformance/index.js';

const KEY = 'test';

const PROVIDERS: readonly (readonly [string, ProviderUnderTest])[] = [
  [
    'anthropic',
    {
      connect: (baseUrl, limits) => createAnthropicProvider({ apiKey: KEY, baseUrl, ...limits }),
      readConversation: readMessagesBody,
    },
  ],
  [
    'openai-chat',
    {
      connect: (baseUrl, limits) =>
        createOpenAiChatProvider({ apiKey: KEY, baseUrl: `${baseUrl}/v1`, ...limits }),
      readConversation: readChatBody,
    },
  ],
  [
    'openai-chat through a gateway',
    {
      connect: (baseUrl, limits) =>
        createOpenAiChatProvider({
          apiKey: KEY,
          baseUrl: `${baseUrl}/v1`,
          dialect: 'litellm',
          ...limits,
        }),
      readConversation: readChatBody,
    },
  ],
  [
    'openai-responses',
    {
      connect: (baseUrl, limits) =>
        createOpenAiResponsesProvider({ apiKey: KEY, baseUrl: `${baseUrl}/v1`, ...limits }),
      readConversation: readResponsesBody,
    },
  ],
  [
    'ai-sdk, by the package of Anthropic',
    {
      connect: (baseUrl, limits) => modelOfAnyName(baseUrl, limits),
      readConversation: readMessagesBody,
    },
  ],
];

/** The checks ask models of several names of one provider. */
function modelOfAnyName(baseUrl: string, limits: Partial<StallLimits>): Provider {
  const anthropic = createAnthropic({ apiKey: KEY, baseURL: `${baseUrl}/v1` });
  return {
    name: 'ai-sdk',
    complete: (request, progress) =>
      createAiSdkProvider({ name: 'ai-sdk', model: anthropic(request.model), ...limits }).complete(
        request,
        progress,
      ),
  };
}

/** The package tells of these as of a stream that was cut: no reply either. */
const HIDDEN_BY_PACKAGE = /^"(<html>busy|data: \[\])/;

describe.each(PROVIDERS)('the provider %s', (provider, subject) => {
  const checks = providerChecks(subject).filter(
    ({ name }) => !(provider.startsWith('ai-sdk') && HIDDEN_BY_PACKAGE.test(name)),
  );
  for (const { name, run } of checks) test(name, run, 60_000);
});
