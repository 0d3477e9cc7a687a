/** The packages of vendors, from npm, against servers that speak as the vendors do. */
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createMistral } from '@ai-sdk/mistral';
import { createOllama } from 'ollama-ai-provider-v2';
import { createAiSdkProvider } from '../../providers/ai-sdk.js';
import type { ModelReply, ModelRequest } from '../../providers/provider.js';
import type { LanguageModel } from '../../pure/language-model.js';
import { failureOf, requestOf } from './scripted-setup.js';
import {
  BEDROCK,
  GOOGLE,
  MISTRAL,
  OLLAMA,
  startVendor,
  type Said,
  type Vendor,
  type VendorServer,
} from './vendor-streams.js';

interface Package {
  readonly vendor: Vendor;
  readonly model: (baseUrl: string) => LanguageModel;
  /** The package hands signatures of thoughts on. */
  readonly signs: boolean;
  /** Tokens of a prompt of ten that the vendor read from its cache. */
  readonly cached: number;
}

const apiKey = 'k';
const PACKAGES: Readonly<Record<string, Package>> = {
  google: {
    vendor: GOOGLE,
    model: (url) => createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta` })('gemini-3-pro'),
    signs: true,
    cached: 3,
  },
  'amazon-bedrock': {
    vendor: BEDROCK,
    model: (baseURL) => createAmazonBedrock({ apiKey, baseURL, region: 'x' })('anthropic.claude'),
    signs: true,
    cached: 3,
  },
  mistral: {
    vendor: MISTRAL,
    model: (url) => createMistral({ apiKey, baseURL: `${url}/v1` })('mistral-small'),
    signs: false,
    cached: 0,
  },
  ollama: {
    vendor: OLLAMA,
    model: (url) => createOllama({ baseURL: `${url}/api` })('qwen3'),
    signs: false,
    cached: 0,
  },
};

const TOOL = {
  name: 'orders.read',
  wireName: 'orders__read',
  description: 'An order.',
  inputSchema: { type: 'object', properties: { id: { type: 'integer' } } },
};
/** With a tool, of which a request needs no more than the model is told. */
const ASKED = { tools: [TOOL] } as unknown as Partial<ModelRequest>;
const CALL = { id: 'abcDEF123', name: 'orders__read', args: { id: 1 } };

describe.each(Object.entries(PACKAGES))(
  'the package of %s',
  (_, { vendor, model, signs, cached }) => {
    let server: VendorServer;
    beforeAll(async () => {
      server = await startVendor(vendor);
    });
    afterAll(() => server.stop());
    beforeEach(() => {
      server.asked.length = 0;
    });

    function ask(answers: readonly (Said | number)[], request: object = {}): Promise<ModelReply> {
      server.answers.splice(0, Infinity, ...answers);
      const made = model(server.baseUrl);
      const progress = { signal: new AbortController().signal, onProgress: () => undefined };
      const asked = requestOf({ ...ASKED, model: made.modelId, ...request });
      return createAiSdkProvider({ name: 'fast', model: made }).complete(asked, progress);
    }

    test('gives a text with its cost', async () => {
      const reply = await ask([{ text: 'Hello there.' }]);
      expect(reply.blocks).toEqual([{ type: 'text', text: 'Hello there.' }]);
      expect(reply).toMatchObject({ stop: 'end_turn', usageSource: 'reported' });
      const usage = { input: 10 - cached, output: 5, cacheRead: cached, cacheWrite: 0 };
      expect(reply.usage).toEqual(usage);
      expect(JSON.stringify(JSON.parse(server.asked[0] ?? ''))).toContain('orders__read');
    });

    test('gives a call, and takes its result in the next request', async () => {
      const thought = { text: 'Which one?', signature: 'c2lnbmVk' };
      const { blocks, raw } = await ask([
        { ...(signs && { thought }), text: 'A moment.', call: CALL },
      ]);
      const call = blocks.find((block) => block.type === 'tool_use');
      expect(call).toMatchObject({ tool: 'orders__read', args: { id: 1 } });
      const messages = [
        { role: 'user', blocks: [{ type: 'text', text: 'Where is it?' }] },
        { role: 'assistant', blocks, raw, rawModel: model('').modelId },
        {
          role: 'user',
          blocks: [{ type: 'tool_result', id: call?.id, text: 'On its way.', isError: false }],
        },
      ];
      const reply = await ask([{ text: 'Soon.' }], { messages });
      expect(reply.blocks).toEqual([{ type: 'text', text: 'Soon.' }]);
      const [body] = server.asked.slice(-1);
      expect(body).toContain('On its way.');
      expect(body?.includes('c2lnbmVk')).toBe(signs);
      const foreign = messages.map((one) => ({ ...one, rawModel: 'another' }));
      await ask([{ text: 'Soon.' }], { messages: foreign });
      expect(server.asked.at(-1)).not.toContain('c2lnbmVk');
    });

    test.each<[string, Said]>([
      ['after a text', { text: 'Hello', cut: true }],
      ['after a call', { call: CALL, cut: true }],
      ['before anything', { cut: true }],
    ])('a stream that is cut %s is a failed attempt', async (_where, said) => {
      const failure = await failureOf(ask([said]));
      expect(failure.code).toBe('NetworkTimeout');
      expect(server.asked).toHaveLength(1);
    });

    test.each([
      [429, 'RateLimited'],
      [503, 'ServerError'],
      [401, 'AuthError'],
    ])('status %i is told after one request', async (status, code) => {
      expect((await failureOf(ask([status, { text: 'x' }]))).code).toBe(code);
      expect(server.asked).toHaveLength(1);
    });
  },
);
