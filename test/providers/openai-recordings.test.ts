/**
 * Exchanges with OpenAI's API, and with servers that speak it, that were recorded by another framework: what
 * was answered must be read without loss, and for the same conversation our request must be one that the
 * recorded API would accept, that is the recorded one but for the differences listed here.
 */
import type { Json } from '../../core/json/json.js';
import type { Block, ToolOffer } from '../../core/state/transcript.js';
import { chatBody } from '../../providers/openai/chat-request.js';
import { responsesRequest } from '../../providers/openai/responses-request.js';
import { createOpenAiChatProvider } from '../../providers/openai-chat.js';
import { createOpenAiResponsesProvider } from '../../providers/openai-responses.js';
import type { ModelReply, ModelRequest, RequestMessage } from '../../providers/provider.js';
import { type ScriptedReply, scriptOf } from '../../providers/scripted/script.js';
import { startScriptedModel } from '../../providers/scripted/server.js';
import { assembled } from './assembled.js';
import { recordedExchanges, sayAbsent, type Exchange, type Fields } from './cassettes.js';
import { cutPlaces, sayCutPlaces } from './cut-places.js';
import {
  adapted,
  fields,
  json,
  list,
  perMessage,
  sameAsOurs,
  text,
  without,
  type Difference,
} from './differences.js';
import { failureOf, requestOf } from './scripted-setup.js';

const all = ['test_openai', 'test_anthropic']
  .flatMap(recordedExchanges)
  .filter(({ uri }) => /\/(chat\/completions|responses)$/.test(uri));
const chats = all.filter(({ uri }) => uri.endsWith('/chat/completions'));
const responses = all.filter(({ uri }) => uri.endsWith('/responses'));

/** Servers that were asked for something that is no chat completion. */
const NO_MODEL = /test_(text|invalid)_response/;

async function ask(exchange: Exchange): Promise<ModelReply> {
  const { status, response, contentType } = exchange;
  const error = fields(status === 200 ? null : fields(JSON.parse(response) as Json)['error']);
  const reply: ScriptedReply =
    status === 200
      ? { garbage: response, contentType }
      : {
          status,
          message: text(error['message']),
          errorType: text(error['type']),
          ...(error['code'] == null ? {} : { errorCode: text(error['code']) }),
        };
  const model = await startScriptedModel({ script: scriptOf([reply]) });
  const settings = { apiKey: 'k', baseUrl: `${model.baseUrl}/v1` };
  const provider = exchange.uri.endsWith('/responses')
    ? createOpenAiResponsesProvider(settings)
    : createOpenAiChatProvider(settings);
  const progress = { signal: new AbortController().signal, onProgress: () => undefined };
  try {
    return await provider.complete(requestOf(), progress);
  } finally {
    await model.stop();
  }
}

if (all.length === 0) {
  test('the recorded exchanges are there', () => sayAbsent('pydantic-ai-cassettes'));
} else {
  describe('a recorded chat completion', () => {
    test.each(chats.filter(whole))('$name is read without loss', async (exchange) => {
      const recorded = fields(JSON.parse(exchange.response) as Json);
      const choice = fields(list(recorded['choices'])[0]);
      const message = fields(choice['message']);
      const reply = await ask(exchange);
      expect(said(reply)).toBe(text(message['content']));
      expect(thought(reply)).toBe(text(message['reasoning']));
      expect(calls(reply)).toEqual(
        list(message['tool_calls']).map((call) => ({
          tool: fields(fields(call)['function'])['name'],
          args: JSON.parse(text(fields(fields(call)['function'])['arguments'])) as Json,
        })),
      );
      expect(reply.stop).toBe(choice['finish_reason'] === 'stop' ? 'end_turn' : 'tool_use');
      expect(reply.model).toBe(recorded['model']);
      const usage = fields(recorded['usage']);
      if (Object.keys(usage).length === 0) return;
      expect(reply.usageSource).toBe('reported');
      const { input, cacheRead, cacheWrite, output } = reply.usage;
      expect(input + cacheRead + cacheWrite).toBe(usage['prompt_tokens']);
      expect(input + cacheRead + cacheWrite + output).toBe(usage['total_tokens']);
    });

    test.each(chats.filter(({ status }) => status !== 200))(
      '$name is refused',
      async (exchange) => {
        const { code, details } = await failureOf(ask(exchange));
        expect(code).toBe('InvalidRequest');
        expect(details).toMatchObject({ status: 400, shouldRetry: false, receivedInput: false });
      },
    );

    test.each(chats.filter(({ name }) => NO_MODEL.test(name)))(
      '$name is none',
      async (exchange) => {
        expect((await failureOf(ask(exchange))).code).toBe('MalformedReply');
      },
    );
  });

  sayCutPlaces('recorded chats and responses');
  describe('a recorded stream of a chat completion', () => {
    const streams = chats.filter(streamed);
    test.each(streams)('$name is the same in bytes, and through the provider', async (exchange) => {
      const bytes = Buffer.from(exchange.response);
      const { reply: complete } = assembled('chat', [bytes]);
      const inBytes = assembled(
        'chat',
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
      );
      expect(inBytes.reply).toEqual(complete);
      expect(complete).toMatchObject({ usageSource: 'reported' });
      expect(await ask(exchange)).toEqual(complete);
    });

    test.each(streams)('$name is not complete when it is cut before its end', ({ response }) => {
      const bytes = Buffer.from(response);
      const end = bytes.indexOf('"finish_reason":"');
      for (const at of cutPlaces(end)) {
        expect(assembled('chat', [bytes.subarray(0, at)]).complete).toBe(false);
      }
    });
  });

  describe('a recorded response', () => {
    test.each(responses.filter(whole))('$name is read without loss', async (exchange) => {
      const recorded = fields(JSON.parse(exchange.response) as Json);
      const items = list(recorded['output']).map(fields);
      const reply = await ask(exchange);
      const messages = items.filter((item) => item['type'] === 'message');
      const parts = messages.flatMap((item) => list(item['content']).map(fields));
      expect(said(reply)).toBe(parts.map((part) => text(part['text'])).join(''));
      expect(reply.stop).toBe('end_turn');
      expect(fields(reply.raw)['output']).toEqual(items);
      const usage = fields(recorded['usage']);
      expect(reply.usage.output).toBe(usage['output_tokens']);
      expect(reply.usage.input + reply.usage.cacheRead).toBe(usage['input_tokens']);
    });

    test.each(responses.filter(streamed))('$name is the same, cut anywhere', async (exchange) => {
      const bytes = Buffer.from(exchange.response);
      const reply = await ask(exchange);
      expect(reply).toMatchObject({ stop: 'end_turn', usageSource: 'reported' });
      const inBytes = assembled(
        'responses',
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
      );
      expect(inBytes.complete).toBe(true);
      const last = bytes.lastIndexOf('event: response.completed');
      for (const at of cutPlaces(last)) {
        expect(assembled('responses', [bytes.subarray(0, at)]).complete).toBe(false);
      }
    });
  });

  describe('our request for a recorded conversation', () => {
    const used = new Set<string>();
    const comparable = [...chats, ...responses].filter(({ request }) => canonical(request));

    test.each(comparable)('$name is the recorded one but for the differences', (exchange) => {
      const request = canonical(exchange.request);
      if (request === undefined) throw new Error('not comparable');
      const isChat = 'messages' in exchange.request;
      const mode = { stored: true, known: () => true };
      const body = isChat ? chatBody(request, 'openai') : responsesRequest(request, mode).body;
      const ours = json(body);
      const expected = adapted(exchange.request, ours, { differences: DIFFERENCES, used });
      expect(ours).toEqual(expected);
    });

    test('is compared for most exchanges, and every listed difference occurs', () => {
      // The rest sends files, pictures or sound, offers tools that the vendor runs, or continues a response that was
      // not recorded.
      expect(comparable.length).toBeGreaterThanOrEqual(all.length - 18);
      expect([...used].toSorted()).toEqual(DIFFERENCES.map(({ name }) => name).toSorted());
    });
  });
}

const DIFFERENCES: readonly Difference[] = [
  // We always stream, and then ask for the usage, which a stream lacks otherwise.
  { name: 'streamed', adapt: sameAsOurs('stream', 'stream_options') },
  // A reply without a limit could not be reserved in a budget.
  { name: 'limited', adapt: sameAsOurs('max_completion_tokens', 'max_output_tokens') },
  // Whether the vendor keeps a response is said, not left to its default, which is the same.
  { name: 'store said', adapt: sameAsOurs('store') },
  // The default, said.
  { name: 'temperature said', adapt: sameAsOurs('temperature') },
  // One choice and `auto` are the defaults.
  {
    name: 'defaults left out',
    adapt: (recorded, ours) =>
      without('n', ...(recorded['tool_choice'] === 'auto' ? ['tool_choice'] : []))(recorded, ours),
  },
  // We have no such option: a run is never made to call a tool, nor to answer in a form but by its check.
  {
    name: 'options that we do not have',
    adapt: without(
      'tool_choice',
      'response_format',
      'moderation',
      'web_search_options',
      'text',
      'user',
    ),
  },
  // An effort comes from a token limit, which these conversations do not have.
  { name: 'no effort', adapt: without('reasoning_effort', 'reasoning') },
  // Log probabilities are not asked for; encrypted reasoning always is where a model reasons.
  {
    name: 'what to include',
    adapt: (recorded, ours) => sameAsOurs('include')(without('include')(recorded, ours), ours),
  },
  // Schemas of tools need not meet the conditions of strict ones; their calls are checked here.
  {
    name: 'tools not strict',
    adapt: (recorded) => {
      const { tools } = recorded;
      if (!Array.isArray(tools)) return recorded;
      const loose = tools.map((tool: Json) => {
        const { strict: _, ...rest } = fields(fields(tool)['function']);
        return { ...fields(tool), function: rest };
      });
      return { ...recorded, tools: loose };
    },
  },
  // A message of calls alone says `content: null` (G44); leaving it out means the same.
  {
    name: 'null content',
    adapt: perMessage((message) =>
      'content' in message ? message : { ...message, content: null },
    ),
  },
  // The system's word in its older form, which every model but o1-mini takes.
  {
    name: 'system role',
    adapt: perMessage((message) =>
      message['role'] === 'developer' ? { ...message, role: 'system' } : message,
    ),
  },
  // A single text is sent as text, not as a list of one part.
  {
    name: 'single text',
    adapt: perMessage((message) => {
      const [part, ...rest] = list(message['content']);
      return part === undefined || rest.length > 0
        ? message
        : { ...message, content: fields(part)['text'] ?? null };
    }),
  },
  // What the system says has a field of its own, which a later response of the conversation must be told anew.
  {
    name: 'instructions',
    adapt: (recorded) => {
      const items = list(recorded['input'] ?? null).map(fields);
      const isSystem = ({ role }: Fields): boolean => role === 'system';
      if (!items.some(isSystem)) return recorded;
      const instructions = items.filter(isSystem).map(({ content }) => text(content));
      return {
        ...recorded,
        instructions: instructions.join('\n\n'),
        input: items.filter((item) => !isSystem(item)),
      };
    },
  },
  // Items of a response's input say what they are, and their text is a part.
  {
    name: 'typed items',
    adapt: (recorded) => {
      const { input } = recorded;
      if (!Array.isArray(input)) return recorded;
      const items = input.map((item: Json) => ({
        type: 'message',
        ...fields(item),
        content: [{ type: 'input_text', text: fields(item)['content'] ?? null }],
      }));
      return { ...recorded, input: items };
    },
  },
];

/** The recorded conversation as the runtime would hand it over; undefined where it could not. */
function canonical(recorded: Fields): ModelRequest | undefined {
  if ('previous_response_id' in recorded) return undefined;
  const isOwn = (tool: Json): boolean => fields(tool)['type'] !== 'function';
  if (list(recorded['tools'] ?? null).some(isOwn)) return undefined;
  const given = list(recorded['messages'] ?? recorded['input'] ?? null).map(fields);
  const isSystem = ({ role }: Fields): boolean => role === 'system' || role === 'developer';
  const messages: RequestMessage[] = [];
  for (const message of given.filter((each) => !isSystem(each))) {
    const blocks = blocksOf(message);
    if (blocks === undefined) return undefined;
    messages.push({ role: message['role'] === 'assistant' ? 'assistant' : 'user', blocks });
  }
  // What the system says alone is no conversation: a run has a goal.
  if (messages.length === 0) return undefined;
  const system = [
    ...given.filter(isSystem).map((each) => each['content']),
    recorded['instructions'],
  ];
  return {
    model: text(recorded['model']),
    system: system.map(text).filter(Boolean).join('\n\n'),
    tools: list(recorded['tools'] ?? null).map(offerOf),
    messages,
    maxTokens: 16_384,
    ...('messages' in recorded || recorded['reasoning'] !== undefined ? {} : { temperature: 1 }),
  };
}

function blocksOf(message: Fields): readonly Block[] | undefined {
  const { role, content } = message;
  if (role === 'tool') {
    const id = text(message['tool_call_id']);
    return [{ type: 'tool_result', id, isError: false, text: text(content) }];
  }
  const parts = typeof content === 'string' ? [content] : list(content ?? null).map(partText);
  if (parts.some((part) => part === undefined)) return undefined;
  const texts = parts.map((part): Block => ({ type: 'text', text: part ?? '' }));
  const uses = list(message['tool_calls'] ?? null).map((call): Block => {
    const { name, arguments: args } = fields(fields(call)['function']);
    const id = text(fields(call)['id']);
    return { type: 'tool_use', id, tool: text(name), args: JSON.parse(text(args)) as Json };
  });
  return [...texts, ...uses];
}

/** Undefined for a picture, a document or sound: the runtime has only text. */
function partText(part: Json): string | undefined {
  const value = fields(part)['text'];
  return typeof value === 'string' ? value : undefined;
}

function offerOf(tool: Json): ToolOffer {
  const { name, description, parameters } = fields(fields(tool)['function']);
  return {
    name: text(name),
    wireName: text(name),
    version: '1',
    description: text(description),
    inputSchema: parameters ?? {},
  };
}

function whole({ status, contentType, name }: Exchange): boolean {
  return status === 200 && contentType.includes('json') && !NO_MODEL.test(name);
}

function streamed({ contentType }: Exchange): boolean {
  return contentType.includes('event-stream');
}

function said({ blocks }: ModelReply): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function thought({ blocks }: ModelReply): string {
  return blocks.map((block) => (block.type === 'thinking' ? block.text : '')).join('');
}

function calls({ blocks }: ModelReply): readonly unknown[] {
  return blocks.flatMap((block) =>
    block.type === 'tool_use' ? [{ tool: block.tool, args: block.args }] : [],
  );
}
