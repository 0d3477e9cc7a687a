import type { Json } from '../../core/json/json.js';
import type { Block } from '../../core/state/transcript.js';
import { sourcesOf } from '../../pure/sources.js';
import { createOpenAiResponsesProvider } from '../../providers/openai-responses.js';
import type { ModelReply, ModelRequest, RequestMessage } from '../../providers/provider.js';
import { scriptOf, type ScriptedAnswer } from '../../providers/scripted/script.js';
import { startScriptedModel, type ScriptedModel } from '../../providers/scripted/server.js';
import { failureOf, lastBody, requestOf } from './scripted-setup.js';

interface Setup {
  readonly model: ScriptedModel;
  readonly ask: (request: Partial<ModelRequest>) => Promise<ModelReply>;
}

async function answering(
  replies: readonly ScriptedAnswer[],
  use: (setup: Setup) => Promise<void>,
  settings: { readonly storeResponses?: boolean } = {},
): Promise<void> {
  const model = await startScriptedModel({ script: scriptOf(replies) });
  const baseUrl = `${model.baseUrl}/v1`;
  const provider = createOpenAiResponsesProvider({ apiKey: 'k', baseUrl, ...settings });
  const progress = { signal: new AbortController().signal, onProgress: () => undefined };
  const ask = (request: Partial<ModelRequest>) => provider.complete(requestOf(request), progress);
  try {
    await use({ model, ask });
  } finally {
    await model.stop();
  }
}

const user = (text: string): RequestMessage => ({ role: 'user', blocks: [{ type: 'text', text }] });
const answered = ({ blocks, raw, model }: ModelReply): RequestMessage => ({
  role: 'assistant',
  blocks,
  raw,
  rawModel: model,
});
const resultOf = (reply: ModelReply): RequestMessage => ({
  role: 'user',
  blocks: reply.blocks.flatMap((block): Block[] =>
    block.type === 'tool_use'
      ? [{ type: 'tool_result', id: block.id, isError: false, text: 'ok' }]
      : [],
  ),
});

const CALLS: ScriptedAnswer = { thinking: 'Hm.', calls: [{ tool: 'a' }, { tool: 'b' }] };

function sent(model: ScriptedModel): { readonly previous: unknown; readonly types: unknown[] } {
  const body = lastBody(model);
  const input = body['input'] as readonly { readonly type: string }[];
  return { previous: body['previous_response_id'], types: input.map(({ type }) => type) };
}

describe('a request for a response', () => {
  test('goes on from the last response while the conversation only grows', async () => {
    await answering([CALLS, { text: 'done' }], async ({ ask, model }) => {
      const first = await ask({ messages: [user('Hi')] });
      await ask({ messages: [user('Hi'), answered(first), resultOf(first)] });
      expect(sent(model)).toEqual({
        previous: 'resp_0',
        types: ['function_call_output', 'function_call_output'],
      });
      expect(lastBody(model)['instructions']).toBe('Be brief.');
    });
  });

  test.each<[string, (first: ModelReply) => Partial<ModelRequest>]>([
    [
      'what came before is not what it was',
      (first) => ({ messages: [user('Hello'), answered(first), resultOf(first)] }),
    ],
    [
      'another model asks',
      (first) => ({ model: 'm2', messages: [user('Hi'), answered(first), resultOf(first)] }),
    ],
    [
      'the reply was repaired',
      (first) => {
        const kept = { ...first, blocks: first.blocks.slice(0, 2) };
        return { messages: [user('Hi'), answered(kept), resultOf(kept)] };
      },
    ],
  ])('is whole when %s', async (_, request) => {
    await answering([CALLS, { text: 'done' }], async ({ ask, model }) => {
      const first = await ask({ messages: [user('Hi')] });
      await ask(request(first));
      const { previous, types } = sent(model);
      expect(previous).toBeUndefined();
      expect(types[0]).toBe('message');
      expect(types).toContain('function_call');
    });
  });

  test('is whole at the next attempt once the server has lost the response', async () => {
    const lost = { status: 400, errorCode: 'previous_response_not_found' };
    await answering([CALLS, [lost, { text: 'done' }]], async ({ ask, model }) => {
      const first = await ask({ messages: [user('Hi')] });
      const messages = [user('Hi'), answered(first), resultOf(first)];
      const { code, details } = await failureOf(ask({ messages }));
      expect([code, details.shouldRetry, details.receivedInput]).toEqual([
        'ServerError',
        true,
        false,
      ]);
      expect((await ask({ messages })).stop).toBe('end_turn');
      expect(sent(model).previous).toBeUndefined();
    });
  });

  test('returns reasoning untouched when nothing is stored', async () => {
    await answering(
      [CALLS, { text: 'done' }],
      async ({ ask, model }) => {
        const first = await ask({ messages: [user('Hi')] });
        await ask({ messages: [user('Hi'), answered(first), resultOf(first)] });
        const body = lastBody(model);
        expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
        const input = body['input'] as readonly Json[];
        expect(input.slice(1, 4)).toEqual((first.raw as { readonly output: Json }).output);
        expect(input[1]).toMatchObject({
          type: 'reasoning',
          encrypted_content: expect.any(String),
        });
      },
      { storeResponses: false },
    );
  });
});

describe('a stream of a response', () => {
  const sse = (...events: readonly object[]): ScriptedAnswer => ({
    garbage: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
  });
  const created = { type: 'response.created', response: { id: 'r', model: 'm' } };
  const call = { type: 'function_call', call_id: 'c', name: 't', arguments: '' };
  const added = { type: 'response.output_item.added', output_index: 0, item: call };
  const completed = {
    type: 'response.completed',
    response: { id: 'r', status: 'completed', output: [] },
  };

  test.each([
    ['begins twice', [created, created]],
    ['has items out of order', [created, { ...added, output_index: 1 }]],
    ['ends as another', [created, { ...completed, response: { id: 'q', status: 'completed' } }]],
    [
      'extends what is done',
      [
        created,
        added,
        { type: 'response.output_item.done', output_index: 0, item: call },
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{}' },
      ],
    ],
    ['is no JSON object', [created, []]],
    ['is complete without the end of a call', [created, added]],
  ])('that %s is no reply', async (_, events) => {
    await answering([sse(...events, completed)], async ({ ask }) => {
      expect((await failureOf(ask({}))).code).toBe('MalformedReply');
    });
  });

  test('was cut off in a call brings none', async () => {
    const response = {
      ...completed.response,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    };
    const end = { type: 'response.incomplete', response };
    await answering([sse(created, added, end)], async ({ ask }) => {
      expect(await ask({})).toMatchObject({ blocks: [], incompleteCalls: 1 });
    });
  });

  test.each([
    [{ code: 'rate_limit_exceeded', message: 'slow' }, 'RateLimited'],
    [{ code: 'server_error', message: 'oops' }, 'ServerError'],
    [{ code: 'invalid_prompt', message: 'against our usage policy' }, 'ContentRefused'],
  ])('that failed with %j fails with %s', async (error, code) => {
    const failed = { type: 'response.failed', response: { id: 'r', status: 'failed', error } };
    await answering([sse(created, failed)], async ({ ask }) => {
      expect((await failureOf(ask({}))).code).toBe(code);
    });
  });

  test('with a refusal is refused', async () => {
    const content = [{ type: 'refusal', refusal: 'I will not.' }];
    const output = [{ type: 'message', role: 'assistant', content }];
    const end = { ...completed, response: { ...completed.response, output } };
    await answering([sse(created, end)], async ({ ask }) => {
      expect(await ask({})).toMatchObject({ stop: 'refusal', refusal: 'I will not.', blocks: [] });
    });
  });

  test('tells what it cites, and goes back as it was', async () => {
    const annotations = [
      { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 },
      { type: 'file_citation', file_id: 'file-1', filename: 'terms.txt', index: 3 },
    ];
    const item = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'So.', annotations }],
    };
    const added = annotations.map((annotation, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      output_index: 0,
      annotation_index,
      annotation,
    }));
    const begun = { ...item, status: 'in_progress', content: [] };
    const pieces = [
      { type: 'response.output_item.added', output_index: 0, item: begun },
      { type: 'response.output_text.delta', output_index: 0, delta: 'So.' },
      ...added,
      { type: 'response.output_item.done', output_index: 0, item },
    ];
    const stream = sse(created, ...pieces, completed);
    await answering([stream, stream], async ({ ask, model }) => {
      const reply = await ask({});
      expect(sourcesOf(reply.raw)).toMatchObject([
        { kind: 'url', url: 'https://a.example', title: 'A' },
        { kind: 'document', title: 'terms.txt', fileId: 'file-1' },
      ]);
      await ask({ model: reply.model, messages: [user('Hello'), answered(reply), user('Why?')] });
      expect(JSON.stringify(lastBody(model))).toContain(JSON.stringify(annotations));
    });
  });

  test('tells what the vendor ran itself, and is no call of ours', async () => {
    const item = { id: 'ws', type: 'web_search_call', status: 'completed', action: { query: 'q' } };
    const end = { ...completed, response: { ...completed.response, output: [item] } };
    await answering([sse(created, end)], async ({ ask }) => {
      const { blocks, hosted, stop } = await ask({});
      expect([blocks, stop]).toEqual([[], 'end_turn']);
      expect(hosted).toMatchObject([
        { id: 'ws', tool: 'web_search', args: { query: 'q' }, isError: false },
      ]);
    });
  });
});
