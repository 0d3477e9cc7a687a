/**
 * Exchanges with Anthropic's API that were recorded by others: what was answered must be read without loss, and
 * for the same conversation our request must be one that the recorded API would accept, that is the recorded
 * one but for the differences listed here.
 */
import type { Json } from '../../core/json/json.js';
import { BetaMessageStream } from '@anthropic-ai/sdk/lib/BetaMessageStream';
import { anthropicBody } from '../../providers/anthropic/request.js';
import type { ModelReply } from '../../providers/provider.js';
import { createSseParser } from '../../providers/sse.js';
import { canonicalMessages } from './anthropic-canonical.js';
import { replyTo } from './canned.js';
import { recordedExchanges, sayAbsent, type Exchange, type Fields } from './cassettes.js';
import {
  adapted,
  fields,
  json,
  list,
  perItem,
  sameAsOurs,
  text,
  without,
  type Difference,
} from './differences.js';
import { snapshots } from './recorded-streams.js';
import { failureOf } from './scripted-setup.js';

const BYTES_MAX = 10_000_000;

/** Those of the fixtures in the form of the others. */
function snapshotExchanges(): readonly Exchange[] {
  return snapshots().map(({ name, request, response }) => ({
    name,
    uri: request.url,
    request: fields(request.body as Json),
    status: response.status_code,
    contentType: typeof response.body === 'string' ? 'text/event-stream' : 'application/json',
    response: typeof response.body === 'string' ? response.body : JSON.stringify(response.body),
  }));
}

const all = [
  ...recordedExchanges('test_anthropic'),
  ...recordedExchanges('test_anthropic_mid_conversation_system'),
  ...snapshotExchanges(),
].filter(({ uri }) => new URL(uri).pathname === '/v1/messages');

function ask({ response, contentType, status }: Exchange): Promise<ModelReply> {
  const headers = { 'content-type': contentType.split(';')[0] ?? '' };
  return replyTo('messages', { pieces: [Buffer.from(response)], headers, status });
}

/** The message as the vendor's own SDK reads it. */
async function messageIn({ response, contentType }: Exchange): Promise<Fields> {
  if (!contentType.includes('event-stream')) return fields(JSON.parse(response) as Json);
  const parser = createSseParser(BYTES_MAX);
  const events = [...parser.push(Buffer.from(response)), ...parser.end()];
  const lines = events.filter(({ event }) => event !== 'ping').map(({ data }) => `${data}\n`);
  const stream = BetaMessageStream.fromReadableStream(new Blob(lines).stream());
  return json(await stream.finalMessage());
}

if (all.length === 0) {
  test('the recorded exchanges are there', () => sayAbsent('pydantic-ai-cassettes'));
} else {
  describe('a recorded message', () => {
    test.each(all.filter(({ status }) => status === 200))(
      '$name is read without loss',
      async (exchange) => {
        const message = await messageIn(exchange);
        const content = list(message['content']).map(fields);
        const reply = await ask(exchange);
        // An empty text says nothing, and the API does not take it back.
        const substance = content.filter(
          (block) => block['type'] !== 'text' || block['text'] !== '',
        );
        expect(reply.raw).toEqual(substance);
        expect(reply.blocks).toEqual(substance.flatMap(readBlock));
        expect(reply.stop).toBe(message['stop_reason']);
        expect(reply.model).toBe(message['model']);
        expect(reply.usageSource).toBe('reported');
        expect(reply.usage).toEqual(billed(fields(message['usage'])));
        expect((reply.hosted ?? []).length).toBe(
          substance.filter(({ type }) => /.+_tool_result$/.test(text(type))).length,
        );
      },
    );

    test('shows every kind of block that is told of here', async () => {
      const kinds = new Set<string>();
      for (const exchange of all.filter(({ status }) => status === 200)) {
        for (const block of list((await ask(exchange)).raw)) kinds.add(text(fields(block)['type']));
      }
      expect([...kinds].toSorted()).toEqual([
        'advisor_tool_result',
        'bash_code_execution_tool_result',
        'compaction',
        'mcp_tool_result',
        'mcp_tool_use',
        'redacted_thinking',
        'server_tool_use',
        'text',
        'text_editor_code_execution_tool_result',
        'thinking',
        'tool_use',
        'web_fetch_tool_result',
        'web_search_tool_result',
      ]);
    });

    test.each(all.filter(({ status }) => status !== 200))('$name is refused', async (exchange) => {
      const { code, details } = await failureOf(ask(exchange));
      const limited = exchange.status === 429;
      expect(code).toBe(limited ? 'RateLimited' : 'InvalidRequest');
      expect(details).toMatchObject({
        status: exchange.status,
        shouldRetry: limited,
        receivedInput: false,
      });
    });
  });

  describe('our request for a recorded conversation', () => {
    const used = new Set<string>();
    const comparable = all.filter(
      ({ request, status }) => status !== 400 && canonicalMessages(request) !== undefined,
    );

    test.each(comparable)('$name is the recorded one but for the differences', (exchange) => {
      const request = canonicalMessages(exchange.request);
      if (request === undefined) throw new Error('not comparable');
      const ours = json(anthropicBody(request));
      const expected = adapted(exchange.request, ours, { differences: DIFFERENCES, used });
      expect(unmarked(ours)).toEqual(unmarked(expected));
      expect(marksIn(ours)).toEqual(markedPlaces(ours));
    });

    test('is compared for most exchanges, and every listed difference occurs', () => {
      const left = all.filter((exchange) => !comparable.includes(exchange));
      // They send pictures or documents, change the tools on the way, reach for a server of tools, or were refused.
      expect(left.length).toBeLessThanOrEqual(33);
      expect([...used].toSorted()).toEqual(DIFFERENCES.map(({ name }) => name).toSorted());
    });
  });
}

const DIFFERENCES: readonly Difference[] = [
  // We always stream.
  { name: 'streamed', adapt: sameAsOurs('stream') },
  // Where marks stand is compared apart.
  { name: 'cache marks', adapt: (recorded) => unmarked(recorded) },
  // `auto` is the default; a run is never made to call a tool.
  { name: 'choice of tools', adapt: without('tool_choice') },
  // We have no such option.
  {
    name: 'options that we do not have',
    adapt: without('output_config', 'context_management', 'container', 'top_k', 'metadata'),
  },
  // The system prompt is one text.
  {
    name: 'one system prompt',
    adapt: (recorded) =>
      'system' in recorded
        ? { ...recorded, system: [{ type: 'text', text: systemText(recorded['system']) }] }
        : recorded,
  },
  // Schemas need not meet the conditions of strict ones, and all tools are there from the start.
  {
    name: 'plain tools',
    adapt: perItem('tools', (tool) => without('strict', 'defer_loading')(tool, {})),
  },
  // A text on its own is a list of one.
  {
    name: 'content as a list',
    adapt: perItem('messages', (message) =>
      typeof message['content'] === 'string'
        ? { ...message, content: [{ type: 'text', text: message['content'] }] }
        : message,
    ),
  },
  // A conversation begins with its user.
  {
    name: 'begun by the user',
    adapt: (recorded, ours) => {
      const messages = list(recorded['messages']);
      const [opening = null] = list(ours['messages']);
      return fields(messages[0])['role'] === 'assistant'
        ? { ...recorded, messages: [opening, ...messages] }
        : recorded;
    },
  },
  // How much of its thinking the model shows is left to its default.
  {
    name: 'shown thinking',
    adapt: (recorded) =>
      'thinking' in recorded
        ? { ...recorded, thinking: without('display')(fields(recorded['thinking']), {}) }
        : recorded,
  },
  // What a system says later than at the start, a user says: not every model takes it from the system.
  {
    name: 'later words of the system',
    adapt: (recorded) => ({ ...recorded, messages: alternating(list(recorded['messages'])) }),
  },
  // The result of a tool is one text, and said to be an error only when it is one.
  {
    name: 'results as texts',
    adapt: perItem('messages', (message) => ({
      ...message,
      content: list(message['content']).map((block) => plainResult(fields(block))),
    })),
  },
];

function alternating(messages: readonly Json[]): readonly Json[] {
  const merged: { role: Json; content: Json[] }[] = [];
  for (const message of messages.map(fields)) {
    const role = message['role'] === 'system' ? 'user' : (message['role'] ?? null);
    const content = [...list(message['content'])];
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content });
  }
  return merged;
}

function plainResult(block: Fields): Fields {
  if (block['type'] !== 'tool_result') return block;
  const { is_error: isError, content, ...rest } = block;
  const said =
    typeof content === 'string'
      ? content
      : list(content)
          .map((part) => text(fields(part)['text']))
          .join('\n');
  return {
    ...rest,
    ...(said === '' ? {} : { content: said }),
    ...(isError === true ? { is_error: true } : {}),
  };
}

function systemText(system: Json | undefined): string {
  return typeof system === 'string'
    ? system
    : list(system)
        .map((block) => text(fields(block)['text']))
        .join('\n\n');
}

function unmarked(body: Fields): Fields {
  return JSON.parse(JSON.stringify(body), (key, value: Json) =>
    key === 'cache_control' ? undefined : value,
  ) as Fields;
}

/** Where a request marks what is to be cached. */
function marksIn(body: Fields): readonly string[] {
  const marks: string[] = [];
  const walk = (value: Json, at: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'cache_control') marks.push(at);
      else walk(inner as Json, `${at}/${key}`);
    }
  };
  walk(body, '');
  return marks.toSorted();
}

/** The ends of the tools, of the unchanging system prompt and of the two newest messages of the user. */
function markedPlaces(body: Fields): readonly string[] {
  const tools = list(body['tools']);
  const said = list(body['messages']).flatMap((message, at) => {
    const { role, content } = fields(message);
    return role === 'user' ? [`/messages/${at}/content/${list(content).length - 1}`] : [];
  });
  const places = [
    ...said.slice(-2),
    ...('system' in body ? ['/system/0'] : []),
    ...(tools.length > 0 ? [`/tools/${tools.length - 1}`] : []),
  ];
  return places.toSorted();
}

function readBlock(block: Fields): readonly object[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: block['text'] }];
    case 'thinking':
      return [{ type: 'thinking', text: block['thinking'] }];
    case 'tool_use':
      return [
        { type: 'tool_use', id: block['id'], tool: block['name'], args: block['input'] ?? {} },
      ];
    default:
      return [];
  }
}

/** What is billed by the price of the model: the message, and summaries made on the way to it. */
function billed(usage: Fields) {
  const counted = [
    usage,
    ...list(usage['iterations'])
      .map(fields)
      .filter(({ type }) => type === 'compaction'),
  ];
  const sum = (key: string): number =>
    counted.reduce((total, each) => total + Number(each[key] ?? 0), 0);
  return {
    input: sum('input_tokens'),
    output: sum('output_tokens'),
    cacheRead: sum('cache_read_input_tokens'),
    cacheWrite: sum('cache_creation_input_tokens'),
  };
}
