/** What a worker says at its start of models that its agents cannot reach. */
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { ModelRoute } from '../../core/state/model.js';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import { unreachableModels } from '../../worker/unreachable-models.js';

const VLLM: ModelRoute = {
  name: 'vllm/small',
  provider: 'vllm',
  model: 'small',
  contextWindow: 8_000,
  maxOutputTokens: 1_000,
  prices: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  pricesVersion: 'mine',
  temperatureAllowed: true,
};

const agent = (name: string, model: string, fallbackModel?: string) =>
  defineAgent({
    name,
    model,
    instructions: 'Help.',
    ...(fallbackModel !== undefined && { settings: { fallbackModel } }),
  });

function linesWith(variables: Readonly<Record<string, string>>): readonly string[] {
  const config = defineConfig({
    agents: [
      agent('claude', 'scripted/x'),
      agent('gpt', 'openai/gpt-4.1'),
      agent('gateway', 'litellm/openai/gpt-4.1'),
      agent('house', 'vllm/small'),
      agent('spare', 'scripted/x', 'vllm/small'),
    ],
    routes: [VLLM],
    endpoints: [
      { name: 'vllm', protocol: 'chat', baseUrl: 'http://vllm.test/v1', keyVariable: 'VLLM_KEY' },
    ],
  });
  return unreachableModels(config, providersOf(readEnvironment(variables, '/p'), config));
}

const EVERY_VARIABLE = {
  ANTHROPIC_API_KEY: 'a',
  OPENAI_API_KEY: 'o',
  LITELLM_BASE_URL: 'http://localhost:4000/v1',
  VLLM_KEY: 'v',
};

test('nothing is said when every model can be reached', () => {
  expect(linesWith(EVERY_VARIABLE)).toEqual([]);
});

test.each([
  ['ANTHROPIC_API_KEY', 'Agents claude, spare'],
  ['OPENAI_API_KEY', 'Agent gpt'],
  ['LITELLM_BASE_URL', 'Agent gateway'],
  ['VLLM_KEY', 'Agents house, spare'],
] as const)('a missing %s is named with who needs it: %s', (variable, who) => {
  const { [variable]: _, ...others } = EVERY_VARIABLE;
  expect(linesWith(others)).toEqual([
    `${who} cannot reach a model. Set ${variable} for the worker and restart it.`,
  ]);
});

test('each missing variable is told once', () => {
  expect(linesWith({})).toHaveLength(4);
});
