/** Whole runs whose vendor runs tools of its own, cites, and keeps a container: what it is told, what people see. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineHostedTool, defineTool } from '../../authoring/index.js';
import type { ConfigDefinition, RequestOptions } from '../../authoring/index.js';
import { readTranscript } from '../../client/read/transcript.js';
import { withWholeReply } from '../../client/read/whole-event.js';
import type { RunEvent } from '../../core/state/event.js';
import { chunksOf, messagesOf } from '../../http/projection/index.js';
import { openMemoryStore, type Store } from '../../store/store.js';
import { outsideWork, providersIn } from '../../testing/outside-work.js';
import { startSimulation } from '../../testing/simulation/index.js';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import { MAJORS, readChunks } from '../http/clients.js';
import { startMessagesVendor, type Block, type Said } from './support/messages-vendor.js';

const RUN = { tenant: 'default', runId: 'run_1' };
const hosted = (name: string, declaration: Block) =>
  defineHostedTool({
    name,
    version: '1',
    effect: 'read',
    provider: 'anthropic',
    declaration: { name, ...declaration },
    bound: { inputTokens: 1_000, uses: 3, feeMicroUsd: 10_000 },
  });
const search = hosted('web_search', { type: 'web_search_20250305' });
const code = hosted('code_execution', { type: 'code_execution_20250825' });
const crm = hosted('crm', { type: 'mcp_toolset', mcp_server_name: 'crm' });
const read = defineTool({
  name: 'orders.read',
  version: '1',
  effect: 'read',
  input: z.object({ part: z.number() }),
  run: () => 'It is late.',
});

let store: Store;
beforeEach(async () => void (store = await openMemoryStore()));
afterEach(() => store.close());

interface Vendored {
  readonly tools: ConfigDefinition['agents'][number]['tools'];
  readonly options?: RequestOptions[string];
  readonly answers: readonly Said[];
}

/** A run to its end: bodies of its requests, its events. */
async function ended({ tools, options, answers }: Vendored) {
  const model = 'anthropic/claude-sonnet-5-5';
  const config = defineConfig({
    agents: [defineAgent({ name: 'clerk', model, instructions: 'Help.', tools })],
    ...(options !== undefined && { requestOptions: { anthropic: options } }),
  });
  const vendor = await startMessagesVendor(...answers);
  const environment = readEnvironment({
    ANTHROPIC_API_KEY: 'k',
    ANTHROPIC_BASE_URL: vendor.baseUrl,
  });
  const { counted, waiting } = outsideWork(20_000);
  const simulation = startSimulation({
    store,
    config,
    providers: providersIn(counted, providersOf(environment, config)),
    outside: waiting,
    start: { v: 1, agent: 'clerk', task: { goal: 'Where is my order?', taskId: 'task' } },
    runId: RUN.runId,
  });
  const final = await simulation.finish();
  await vendor.stop();
  expect(simulation.violations).toEqual([]);
  expect(final).toMatchObject({ result: { stopReason: 'completed' } });
  return { asked: vendor.asked, events: simulation.events };
}

function saidIn(body: Block | undefined): readonly Block[] {
  const messages = (body?.['messages'] ?? []) as readonly Block[];
  return messages.flatMap(({ role, content }) =>
    role === 'assistant' ? (content as readonly Block[]) : [],
  );
}
const found = (encrypted: string): Block => ({
  type: 'web_search_result',
  url: 'https://carrier.example/O-17',
  title: 'O-17',
  encrypted_content: encrypted,
  page_age: null,
});
const CALL: Block = { type: 'tool_use', id: 'c1', name: 'orders__read', input: { part: 0 } };
const WEB: Block = {
  type: 'web_search_result_location',
  url: 'https://carrier.example/O-17',
  title: 'O-17',
  cited_text: 'Arrives on Monday.',
  encrypted_index: 'RXhhY3RseSB0aGlz',
};
const PAGE: Block = {
  type: 'page_location',
  document_index: 0,
  document_title: '<b>Terms</b>',
  cited_text: 'Delivery takes\u001b[31m 5 days.',
  start_page_number: 2,
  end_page_number: 3,
  file_id: null,
};
const CITED: readonly Block[] = [
  {
    type: 'server_tool_use',
    id: 'srv',
    name: 'web_search',
    input: { query: 'O-17' },
    caller: { type: 'direct' },
  },
  { type: 'web_search_tool_result', tool_use_id: 'srv', content: [found('T3BhcXVl')] },
  { type: 'text', text: 'It arrives on Monday', citations: [WEB, PAGE, WEB] },
  { type: 'text', text: ', as ever.' },
  CALL,
];
const END: Said = { content: [{ type: 'text', text: 'Monday.', citations: [WEB] }] };
const SOURCES = [
  {
    kind: 'url',
    url: 'https://carrier.example/O-17',
    title: 'O-17',
    passages: [{ text: 'Arrives on Monday.' }, { text: 'Arrives on Monday.' }],
  },
  {
    kind: 'document',
    title: '<b>Terms</b>',
    mediaType: 'application/pdf',
    passages: [{ text: PAGE['cited_text'], unit: 'pages', from: 2, to: 3 }],
  },
];

describe('a run that searches the web and cites', () => {
  const searching = (first: Partial<Said> = {}) =>
    ended({
      tools: [search, read],
      answers: [
        ...('cutAfter' in first ? [{ content: CITED, stop: 'tool_use', ...first }] : []),
        { content: CITED, stop: 'tool_use' },
        END,
      ],
    });

  test('shows the sources of each reply in its conversation', async () => {
    await searching();
    const { messages } = await readTranscript(store, { ...RUN, id: RUN.runId }, async () => '');
    const said = messages.filter(({ role }) => role === 'assistant');
    expect(said.map(({ sources }) => sources)).toEqual([
      SOURCES,
      [{ ...SOURCES[0], passages: [{ text: 'Arrives on Monday.' }] }],
    ]);
    expect(messages.filter(({ role, sources }) => role === 'user' && sources)).toEqual([]);
  });

  const whole = (events: readonly RunEvent[]) =>
    Promise.all(
      events.map(async (event) => ({
        kind: 'event' as const,
        event: await withWholeReply({ run: RUN, store }, event),
      })),
    );

  test.each(MAJORS)('shows them to a client of %s as the conversation does', async (major) => {
    const moments = await whole((await searching()).events);
    const chunks = chunksOf(moments, { profile: major, runId: RUN.runId, messageId: 'm' });
    const { messages } = await readTranscript(store, { ...RUN, id: RUN.runId }, async () => '');
    const shown = await readChunks(major, chunks);
    const parts = (all: readonly { readonly type: string }[] = []) =>
      all
        .filter(({ type }) => type.startsWith('source-'))
        .map((part) => ({ ...part, providerMetadata: undefined }));
    const cited = parts(shown?.parts);
    expect(cited).toMatchObject([
      { type: 'source-url', url: 'https://carrier.example/O-17', title: 'O-17' },
      { type: 'source-document', mediaType: 'application/pdf', title: '<b>Terms</b>' },
      { type: 'source-url' },
    ]);
    expect(cited).toEqual(parts(messagesOf(messages).at(-1)?.parts));
  });

  test('gives the vendor its own blocks back as they were, after an attempt that died among the citations', async () => {
    // The first citation has arrived, and the second has not.
    const { asked, events } = await searching({ cutAfter: 9 });
    expect(asked).toHaveLength(3);
    expect(saidIn(asked[2])).toEqual(CITED);
    expect(asked[0]).toEqual(asked[1]);
    expect(events.filter(({ type }) => type === 'model_response')).toHaveLength(2);
  });

  test('is charged for its searches, which its record names', async () => {
    const { events } = await searching();
    const uses = events.filter((event) => event.type === 'tool_finished');
    expect(uses).toMatchObject([{ tool: 'web_search' }, { tool: 'orders.read' }]);
  });
});

describe('a run whose vendor runs code', () => {
  const use = (id: string): readonly Block[] => [
    { type: 'server_tool_use', id, name: 'bash_code_execution', input: { command: 'ls' } },
    {
      type: 'bash_code_execution_tool_result',
      tool_use_id: id,
      content: { type: 'bash_code_execution_result', stdout: 'plot.png', return_code: 0 },
    },
  ];
  const skills = [{ type: 'anthropic', skill_id: 'pptx' }];
  const running = (container: Block | null, options?: RequestOptions[string]) =>
    ended({
      tools: [code, read],
      ...(options !== undefined && { options }),
      answers: [
        { content: [...use('a'), CALL], stop: 'tool_use', more: { container } },
        { content: [{ type: 'text', text: 'Done.' }] },
      ],
    });
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

  test('goes on in the container of its reply, with the skills of the configuration', async () => {
    const container = { id: 'container_011', expires_at: inHours(1) };
    const { asked } = await running(container);
    expect(asked.map((body) => body['container'])).toEqual([undefined, 'container_011']);
    await store.close();
    store = await openMemoryStore();
    const skilled = await running({ ...container, skills }, { container: { skills } });
    expect(skilled.asked.map((body) => body['container'])).toEqual([
      { skills },
      { skills, id: 'container_011' },
    ]);
    expect(saidIn(skilled.asked[1])).toEqual([...use('a'), CALL]);
  });

  test.each<readonly [string, Block | null]>([
    ['has expired', { id: 'container_011', expires_at: inHours(-1) }],
    ['says not how long it lives', { id: 'container_011' }],
    ['has no name that could be sent', { id: '../x', expires_at: inHours(1) }],
    ['is none', null],
  ])('begins anew where the container %s', async (_, container) => {
    const { asked } = await running(container);
    expect(asked.map((body) => body['container'])).toEqual([undefined, undefined]);
  });

  test('stays in the container that its configuration names', async () => {
    const { asked } = await running(
      { id: 'container_011', expires_at: inHours(1) },
      { container: 'container_of_mine' },
    );
    expect(asked.map((body) => body['container'])).toEqual([
      'container_of_mine',
      'container_of_mine',
    ]);
  });
});

test('a run reaches the servers that its vendor calls, and its record has neither their tokens nor their addresses', async () => {
  const server = {
    type: 'url',
    name: 'crm',
    url: 'https://crm.example/mcp',
    authorization_token: 'token-of-the-crm-server',
  };
  const content: readonly Block[] = [
    { type: 'mcp_tool_use', id: 'm1', name: 'find', server_name: 'crm', input: { id: 'O-17' } },
    {
      type: 'mcp_tool_result',
      tool_use_id: 'm1',
      is_error: false,
      content: [{ type: 'text', text: 'late' }],
    },
    CALL,
  ];
  const { asked, events } = await ended({
    tools: [crm, read],
    options: { mcp_servers: [server] },
    answers: [{ content, stop: 'tool_use' }, END],
  });
  for (const body of asked) expect(body['mcp_servers']).toEqual([server]);
  expect(saidIn(asked[1])).toEqual(content);
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'tool_finished', tool: 'crm', status: 'ok' }),
  );
  const left = JSON.stringify([events, await store.readChain('default', headIn(events))]);
  expect(left).not.toMatch(/token-of-the-crm-server|crm\.example/);
});

/** Of the newest reply that names its message. */
function headIn(events: readonly RunEvent[]): string {
  return events.findLast((event) => event.type === 'model_response')?.head ?? '';
}
