/** Endpoints by their names. */
import {
  defineAgent,
  defineConfig,
  type EndpointDefinition,
  type HoldfastError,
} from '../../index.js';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';

const agents = [defineAgent({ name: 'a', model: 'groq/x', instructions: 'Help.', tools: [] })];
const configWith = (...endpoints: readonly unknown[]) =>
  defineConfig({ agents, endpoints: endpoints as readonly EndpointDefinition[] });

test.each([
  ['gemini', 'https://generativelanguage.googleapis.com/v1beta/openai', 'GEMINI_API_KEY'],
  ['groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY'],
  ['openrouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'],
  ['ollama', 'http://localhost:11434/v1', undefined],
  ['vllm', 'http://localhost:8000/v1', undefined],
])('%s is an endpoint by its name', (name, baseUrl, keyVariable) => {
  const { endpoints } = configWith(name);
  const key = keyVariable === undefined ? {} : { keyVariable };
  expect(endpoints).toEqual([{ name, protocol: 'chat', dialect: 'plain', baseUrl, ...key }]);
  const variables = keyVariable === undefined ? {} : { [keyVariable]: 'k' };
  expect([...providersOf(readEnvironment(variables, '/p'), { endpoints }).keys()]).toEqual([name]);
  const without = providersOf(readEnvironment({}, '/p'), { endpoints }).size;
  expect(without).toBe(keyVariable === undefined ? 1 : 0);
});

test('a preset may be under another name, at another address, with another protocol', () => {
  const baseUrl = 'https://mine.openai.azure.com/openai/v1';
  const azure = { preset: 'azure', name: 'work', baseUrl, protocol: 'responses' };
  expect(configWith(azure, { preset: 'vllm', baseUrl: 'http://gpu:8000/v1' }).endpoints).toEqual([
    {
      name: 'work',
      protocol: 'responses',
      dialect: 'openai',
      baseUrl,
      keyVariable: 'AZURE_OPENAI_API_KEY',
    },
    { name: 'vllm', protocol: 'chat', dialect: 'plain', baseUrl: 'http://gpu:8000/v1' },
  ]);
});

test('a field that is left undefined is that of the preset', () => {
  const left = { preset: 'groq', name: undefined, keyVariable: undefined, protocol: undefined };
  expect(configWith(left).endpoints).toEqual(configWith('groq').endpoints);
});

test.each<[string, unknown, RegExp, RegExp]>([
  ['that lacks its address', 'azure', /depends on the account/, /openai\.azure\.com/],
  ['that lacks its region', { preset: 'bedrock' }, /depends on the account/, /bedrock-runtime/],
  ['that a package reaches', 'mistral', /no endpoint "mistral"/, /@ai-sdk\/mistral/],
  ['that nobody knows', 'constructor', /no endpoint "constructor"/, /gemini, groq/],
  ['with a key in it', { preset: 'groq', apiKey: 'k' }, /no field "apiKey"/, /keyVariable/],
  [
    'with a dialect of its own',
    { name: 'own', protocol: 'chat', baseUrl: 'http://a.test', dialect: 'mine' },
    /no known dialect/,
    /plain/,
  ],
])('an endpoint %s is refused with what to do', (_, endpoint, message, hint) => {
  let refused: unknown;
  try {
    configWith(endpoint);
  } catch (error) {
    refused = error;
  }
  const { message: said, hint: told, code } = refused as HoldfastError;
  expect([code, said, told]).toEqual([
    'InvalidConfig',
    expect.stringMatching(message),
    expect.stringMatching(hint),
  ]);
});
