/** Vendors of the cache's bench: who builds their requests, how those read, and by which rule they are cached. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createMistral } from '@ai-sdk/mistral';
import { createAiSdkProvider } from '../../../providers/ai-sdk.js';
import { createOpenAiResponsesProvider } from '../../../providers/openai-responses.js';
import type { Provider } from '../../../providers/provider.js';
import { createAnthropicProvider, createOpenAiChatProvider } from '../../../testing/index.js';
import { markedCache, prefixCache, type Piece, type VendorCache } from './vendor-cache.js';

export interface Rule {
  readonly name: string;
  /** Shorter beginnings are not cached. */
  readonly tokensMin: number;
  open(): VendorCache;
}

export interface Vendor {
  readonly name: string;
  /** Of the bodies: rules that differ by model are reckoned on the same requests. */
  readonly rules: readonly Rule[];
  provider(baseUrl: string, send: typeof fetch): Provider;
  pieces(body: string): readonly Piece[];
}

type Body = { readonly [field: string]: unknown };

const apiKey = 'bench-bench-bench';

function marked(tokensMin: number, models: string): Rule {
  const name = `from ${tokensMin} tokens (${models})`;
  return { name, tokensMin, open: () => markedCache(tokensMin) };
}

function prefix(tokensMin: number, step: number, models: string): Rule {
  const name = `from ${tokensMin} tokens by ${step} (${models})`;
  return { name, tokensMin, open: () => prefixCache({ tokensMin, step }) };
}

/** The one that every request names. */
export const MODEL = 'bench-model';

const MARKED = [
  marked(512, 'Opus 5, Fable 5'),
  marked(1_024, 'Sonnet, Opus 4.8'),
  marked(4_096, 'Haiku 4.5, Opus 4.5 to 4.7'),
];
const OPENAI_RULE = prefix(1_024, 128, 'OpenAI');
const PLAIN = [prefix(1_024, 64, 'vLLM, DeepSeek'), prefix(4_096, 64, 'Gemini')];

export const VENDORS: readonly Vendor[] = [
  {
    name: 'anthropic',
    rules: MARKED,
    provider: (baseUrl, send) => createAnthropicProvider({ apiKey, baseUrl, fetch: send }),
    pieces: messagesPieces,
  },
  {
    name: 'openai',
    rules: [OPENAI_RULE],
    provider: (baseUrl, send) =>
      createOpenAiChatProvider({ apiKey, baseUrl: `${baseUrl}/v1`, fetch: send }),
    pieces: chatPieces,
  },
  {
    name: 'openai-responses',
    rules: [OPENAI_RULE],
    // A server that keeps the conversation is told what is new alone.
    provider: (baseUrl, send) =>
      createOpenAiResponsesProvider({
        apiKey,
        baseUrl: `${baseUrl}/v1`,
        fetch: send,
        storeResponses: false,
      }),
    pieces: responsesPieces,
  },
  {
    name: 'plain',
    rules: PLAIN,
    provider: (baseUrl, send) =>
      createOpenAiChatProvider({
        name: 'plain',
        apiKey,
        baseUrl: `${baseUrl}/v1`,
        dialect: 'plain',
        fetch: send,
      }),
    pieces: chatPieces,
  },
  {
    name: 'ai-sdk-anthropic',
    rules: MARKED,
    provider: (baseUrl, send) => {
      const model = createAnthropic({ apiKey, baseURL: `${baseUrl}/v1`, fetch: send })(MODEL);
      return createAiSdkProvider({ name: 'ai-sdk-anthropic', model });
    },
    pieces: messagesPieces,
  },
  {
    name: 'ai-sdk-mistral',
    rules: PLAIN,
    provider: (baseUrl, send) => {
      const model = createMistral({ apiKey, baseURL: `${baseUrl}/v1`, fetch: withChoices(send) })(
        MODEL,
      );
      return createAiSdkProvider({ name: 'ai-sdk-mistral', model });
    },
    pieces: chatPieces,
  },
];

/** Mistral tells of its tokens with a choice, and its package takes no part of a stream without one. */
function withChoices(send: typeof fetch): typeof fetch {
  const choice = '"choices":[{"index":0,"delta":{},"finish_reason":null}]';
  return async (url, init) => {
    const response = await send(url, init);
    return new Response((await response.text()).replaceAll('"choices":[]', choice), response);
  };
}

export function vendorNamed(name: string): Vendor {
  const vendor = VENDORS.find((one) => one.name === name);
  if (vendor === undefined) throw new Error(`no vendor ${name}`);
  return vendor;
}

function parsed(body: string): Body {
  return JSON.parse(body) as Body;
}

function listOf(value: unknown): readonly Body[] {
  return Array.isArray(value) ? (value as readonly Body[]) : [];
}

/** Tools, then the system prompt, then the messages, block by block; the choice of tools counts for the messages. */
function messagesPieces(text: string): readonly Piece[] {
  const { tools, system, messages, tool_choice: choice, thinking } = parsed(text);
  return [
    ...listOf(tools).map((tool) => piece('', tool)),
    ...listOf(system).map((block) => piece('', block)),
    { text: JSON.stringify([choice, thinking]), marked: false, silent: true },
    ...listOf(messages).flatMap(({ role, content }) =>
      listOf(content).map((block) => piece(String(role), block)),
    ),
  ];
}

function piece(role: string, { cache_control: mark, ...block }: Body): Piece {
  return { text: role + JSON.stringify(block), marked: mark !== undefined };
}

/** Tools are rendered before the messages. */
function chatPieces(text: string): readonly Piece[] {
  const { tools, messages, prompt_cache_key: key } = parsed(text);
  const said = [...listOf(tools), ...listOf(messages)].map((one) => piece('', one));
  return [...routedBy(key), ...said];
}

/** Requests with another key go to another machine, which has a cache of its own. */
function routedBy(key: unknown): readonly Piece[] {
  return typeof key === 'string' ? [{ text: key, marked: false, silent: true }] : [];
}

function responsesPieces(text: string): readonly Piece[] {
  const { tools, instructions, input, prompt_cache_key: key } = parsed(text);
  const system = typeof instructions === 'string' ? [{ instructions }] : [];
  const said = [...listOf(tools), ...system, ...listOf(input)].map((one) => piece('', one));
  return [...routedBy(key), ...said];
}
