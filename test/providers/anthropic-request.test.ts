import type { Json } from '../../core/json/json.js';
import type { Block, ToolOffer } from '../../core/state/transcript.js';
import { anthropicBody } from '../../providers/anthropic/request.js';
import type { ModelRequest, RequestMessage } from '../../providers/provider.js';
import { failureOf, lastBody, requestOf, serving, stopAll } from './scripted-setup.js';

afterEach(stopAll);

const text = (said: string): Block => ({ type: 'text', text: said });
const use = (id: string, tool = 'orders.read'): Block => ({
  type: 'tool_use',
  id,
  tool,
  args: { id },
});
const result = (id: string, isError = false, said = 'ok'): Block => ({
  type: 'tool_result',
  id,
  isError,
  text: said,
});
const user = (...blocks: Block[]): RequestMessage => ({ role: 'user', blocks });
const assistant = (...blocks: Block[]): RequestMessage => ({ role: 'assistant', blocks });

/** Without marks: anthropic-cache.test.ts looks at those. */
function messagesOf(...messages: RequestMessage[]): unknown {
  const tools: readonly ToolOffer[] = [offer('orders.read', 'orders__read')];
  return JSON.parse(
    JSON.stringify(anthropicBody(requestOf({ messages, tools })).messages),
    (key, value: unknown) => (key === 'cache_control' ? undefined : value),
  );
}

function offer(name: string, wireName: string): ToolOffer {
  return { name, version: '1', wireName, description: `${name}!`, inputSchema: { type: 'object' } };
}

describe('a request to Anthropic', () => {
  test('carries model, limits, run id and a cacheable static zone', async () => {
    const { ask, model } = await serving([{ text: 'x' }]);
    await ask({ tools: [offer('a.b', 'a__b'), offer('c', 'c')], temperature: 0.5 });
    const cache_control = { type: 'ephemeral' };
    expect(lastBody(model)).toEqual({
      model: 'scripted-model',
      max_tokens: 1000,
      stream: true,
      system: [{ type: 'text', text: 'Be brief.', cache_control }],
      tools: [
        { name: 'a__b', description: 'a.b!', input_schema: { type: 'object' } },
        { name: 'c', description: 'c!', input_schema: { type: 'object' }, cache_control },
      ],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control }] }],
      temperature: 0.5,
      metadata: { user_id: 'run-1' },
    });
    expect(model.requests().at(-1)).toMatchObject({
      runId: 'run-1',
      assistantMessages: 0,
      attempt: 1,
    });
  });

  test('declares what the vendor runs in the words of the vendor, and gives its blocks back', () => {
    const declaration = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 };
    const hosted = { provider: 'anthropic', declaration };
    const search: ToolOffer = { ...offer('web_search', 'web_search'), hosted };
    const raw: readonly Json[] = [
      { type: 'server_tool_use', id: 'h', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 'h', content: [] },
      { type: 'text', text: 'Found.' },
    ];
    const found = { ...assistant(text('Found.')), raw, rawModel: 'scripted-model' };
    const messages = [user(text('Find it.')), found, user(text('And?'))];
    const sent = anthropicBody(requestOf({ messages, tools: [search] }));
    expect(sent.tools).toEqual([{ ...declaration, cache_control: { type: 'ephemeral' } }]);
    expect(sent.messages[1]?.content).toEqual(raw);
    // Where it is not offered any more, only what the model said is left of it.
    const without = anthropicBody(requestOf({ messages, tools: [] }));
    expect(without.messages[1]?.content).toEqual([{ type: 'text', text: 'Found.' }]);
  });

  test('omits what is not set', () => {
    const body = anthropicBody({
      model: 'm',
      system: ' ',
      tools: [],
      messages: [user(text('Hi'))],
      maxTokens: 5,
    });
    expect(Object.keys(body)).toEqual(['model', 'max_tokens', 'stream', 'messages']);
  });

  test('puts the results first and merges neighbours of one role', () => {
    const messages = messagesOf(
      user(text('Hi')),
      assistant(text('One'), use('c1')),
      assistant(use('c2')),
      user(text('and now?')),
      user(result('c1'), result('c2', true, 'no such order')),
    );
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'One' },
          { type: 'tool_use', id: 'c1', name: 'orders__read', input: { id: 'c1' } },
          { type: 'tool_use', id: 'c2', name: 'orders__read', input: { id: 'c2' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'ok' },
          { type: 'tool_result', tool_use_id: 'c2', content: 'no such order', is_error: true },
          { type: 'text', text: 'and now?' },
        ],
      },
    ]);
  });

  test('never has an empty text, an empty message or an error without content', () => {
    const messages = messagesOf(
      user(text('Hi')),
      assistant(text(' \n'), { type: 'thinking', text: 'hm' }),
      user(text(''), result('c1', true, ''), result('c2', false, '')),
    );
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: expect.any(String), is_error: true },
          { type: 'tool_result', tool_use_id: 'c2' },
          { type: 'text', text: 'Hi' },
        ],
      },
    ]);
  });

  test('begins with the user even if the assistant opened the conversation', () => {
    const messages = messagesOf(assistant(text('How can I help?')), user(text('Hi'))) as unknown[];
    expect(messages).toHaveLength(3);
    expect(messages[0]).toMatchObject({ role: 'user' });
  });

  test('gives no raw blocks back whose calls differ from the repaired blocks', () => {
    const raw = [{ type: 'tool_use', id: 'c9', name: 'orders__read', input: {} }];
    const stale: RequestMessage = { ...assistant(use('c1')), raw, rawModel: 'scripted-model' };
    expect(JSON.stringify(messagesOf(user(text('Hi')), stale))).not.toContain('c9');
  });

  test.each([null, 'text', [null], { type: 'text' }])(
    'survives the damaged raw blocks %j',
    (raw) => {
      const damaged: RequestMessage = {
        ...assistant(text('One')),
        raw,
        rawModel: 'scripted-model',
      };
      expect(JSON.stringify(messagesOf(user(text('Hi')), damaged))).toContain('One');
    },
  );

  test('has an object as input and an acceptable name for every past call', () => {
    const odd: Block = { type: 'tool_use', id: 'c', tool: 'gone ☠ tool', args: [1, 2] };
    expect(messagesOf(user(text('Hi')), assistant(odd))).toMatchObject([
      {},
      {
        content: [{ name: expect.stringMatching(/^[\w-]{1,64}$/), input: { $unparsed: '[1,2]' } }],
      },
    ]);
  });

  test('replaces lone surrogates, which are not valid text', () => {
    expect(JSON.stringify(messagesOf(user(text('a\ud800b 👋'))))).toContain('a\uFFFDb 👋');
  });

  test('says a message that was sent before in the names and for the model of this request', () => {
    const called = use('c1');
    const raw = [{ type: 'tool_use', id: 'c1', name: 'orders__read', input: { id: 'c1' } }];
    const messages = [
      user(text('Hi')),
      { ...assistant(called), raw, rawModel: 'scripted-model' },
      user(text('and'), result('c1')),
      user(text('more')),
    ];
    const sent = (request: Partial<ModelRequest>): unknown =>
      JSON.parse(JSON.stringify(anthropicBody(requestOf(request)).messages));
    const requests = [
      { tools: [offer('orders.read', 'orders__read')] },
      { tools: [offer('orders.read', 'orders__again')], model: 'another' },
      { tools: [offer('orders.read', 'orders__again')] },
      { tools: [], model: 'another' },
    ];
    for (const request of [...requests, ...requests]) {
      const known = sent({ ...request, messages });
      expect(known).toEqual(sent({ ...request, messages: structuredClone(messages) }));
    }
    expect(JSON.stringify(sent({ ...requests[1], messages }))).toContain('orders__again');
    expect(JSON.stringify(sent({ ...requests[2], messages }))).toContain('orders__read');
  });

  test('with nothing to send is not sent', async () => {
    const { ask, model } = await serving([{ text: 'x' }]);
    expect((await failureOf(ask({ messages: [user(text(''))] }))).code).toBe('InvalidRequest');
    expect(model.requests()).toHaveLength(0);
  });
});
