/** Fields of Anthropic's API that a configuration adds to requests, and the servers that Anthropic reaches by them. */
import { defineAgent, defineConfig, type RequestOptions } from '../../authoring/index.js';
import type { Json } from '../../core/json/json.js';
import { hostedUses, mayReturn } from '../../providers/anthropic/hosted.js';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import { failureOf, lastBody, serving, stopAll } from './scripted-setup.js';

afterEach(stopAll);

const TOKEN = 'token-of-the-crm-server';
const KEYS = ['key-in-the-path-of-the-crm', 'key in the query of the crm'];
const URL_WITH_KEYS = `https://crm/s/${KEYS[0]}/mcp?api_key=${encodeURIComponent(KEYS[1]!)}`;
const CLEAR_TOOLS = { type: 'clear_tool_uses_20250919' };
const CLEAR_THINKING = { type: 'clear_thinking_20251015' };
const OPTIONS = {
  container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] },
  mcp_servers: [{ type: 'url', name: 'crm', url: URL_WITH_KEYS, authorization_token: TOKEN }],
};

describe('fields of a vendor', () => {
  test('are in each request of the loop, and never in place of what the runtime says', async () => {
    const requestOptions = { ...OPTIONS, max_tokens: 1, stream: false };
    const { ask, model } = await serving([{ text: 'x' }], { requestOptions });
    await ask();
    expect(lastBody(model)).toMatchObject({ ...OPTIONS, max_tokens: 1000, stream: true });
  });

  test('are in no request for a summary or a judge: their bounds know nothing of what would run', async () => {
    const { ask, model } = await serving([{ text: 'x' }], { requestOptions: OPTIONS });
    await ask({ metadata: { runId: 'run-1', call: 1, purpose: 'compaction' } });
    expect(lastBody(model)).not.toHaveProperty('mcp_servers');
  });

  test('do not leave by an error of the vendor', async () => {
    const message = `The server crm (${URL_WITH_KEYS}, ${KEYS[1]}) refused ${TOKEN}.`;
    const { ask } = await serving([{ status: 400, message }], { requestOptions: OPTIONS });
    const failure = await failureOf(ask());
    expect(failure.code).toBe('InvalidRequest');
    expect(failure.message).toContain('The server crm (https://crm/s/[API key]/mcp');
    const said = JSON.stringify([failure.message, failure.details]);
    for (const secret of [TOKEN, ...KEYS, encodeURIComponent(KEYS[1]!)])
      expect(said).not.toContain(secret);
  });

  const configOf = (requestOptions: RequestOptions) =>
    defineConfig({
      agents: [defineAgent({ name: 'a', model: 'scripted/x', instructions: 'Help.', tools: [] })],
      endpoints: [{ name: 'own', protocol: 'messages', baseUrl: 'http://localhost:1' }],
      requestOptions,
    });

  test.each<readonly [RequestOptions, RegExp]>([
    [{ openai: {} }, /No provider "openai"/],
    [{ anthropic: { messages: [] } }, /anthropic\.messages is not taken: the runtime says it/],
    [{ anthropic: { cache_control: { type: 'ephemeral', ttl: '1h' } } }, /prices and bounds/],
    [{ anthropic: { service_tier: 'auto' } }, /service_tier is not taken/],
    [{ own: { mcp_servers: {} } }, /mcp_servers is no list/],
    [{ own: { mcp_servers: [{ url: 'https://a:b@crm' }] } }, /url is no address without a user/],
    [
      { own: { mcp_servers: [{ url: 'https://crm', authorization_token: 'short' }] } },
      /at least 16/,
    ],
    [{ own: { container: 'x'.repeat(30_000) } }, /too large or too deep/],
    [{ own: [] as never }, /no object/],
  ])('are refused where nothing good would come of them: %#', (options, words) => {
    expect(() => configOf(options)).toThrow(words);
  });

  test.each<readonly [Json, RegExp]>([
    [{ edits: [{ type: 'compact_20260112' }] }, /compact_20260112: the vendor then asks its model/],
    [{ edits: [] }, /context_management\.edits cannot be used/],
    [{ edits: [CLEAR_TOOLS, CLEAR_THINKING] }, /clear_thinking_20251015 first/],
    [{ edits: [CLEAR_TOOLS, CLEAR_TOOLS] }, /each edit once/],
    [{ edits: [{ type: 'clear_everything' }] }, /edits\.0\.type cannot be used/],
    [{ edits: [{ ...CLEAR_TOOLS, keep: { type: 'tool_uses', value: -1 } }] }, /keep\.value/],
    [{ edits: [{ ...CLEAR_TOOLS, instructions: 'Forget.' }] }, /edits\.0 cannot be used/],
    [
      { edits: [{ ...CLEAR_THINKING, keep: { type: 'thinking_turns', value: 0 } }] },
      /edits\.0\.keep/,
    ],
    [{ edits: [CLEAR_TOOLS], strategy: 'x' }, /context_management cannot be used/],
    ['auto', /context_management cannot be used/],
  ])('are refused as edits of a conversation: %#', (context_management, words) => {
    expect(() => configOf({ own: { context_management } })).toThrow(words);
  });

  test('are taken as edits that clear', () => {
    const edits = [
      { ...CLEAR_THINKING, keep: 'all' },
      {
        ...CLEAR_TOOLS,
        trigger: { type: 'tool_uses', value: 5 },
        clear_at_least: null,
        clear_tool_inputs: true,
      },
    ];
    expect(() => configOf({ own: { context_management: { edits } } })).not.toThrow();
  });

  test('stay in the worker', () => {
    const config = configOf({ own: OPTIONS as unknown as RequestOptions[string] });
    expect([...providersOf(readEnvironment({}), config).keys()]).toContain('own');
  });
});

test('a tool of a server that the vendor reaches is one of the toolset of that server', () => {
  const use = {
    type: 'mcp_tool_use',
    id: 'm1',
    name: 'get_contact',
    server_name: 'crm',
    input: {},
  };
  const raw: readonly Json[] = [
    use,
    { type: 'mcp_tool_result', tool_use_id: 'm1', is_error: false, content: [] },
  ];
  expect(hostedUses(raw, { earlier: [], hosted: ['crm'] })).toMatchObject([{ tool: 'crm' }]);
  expect(mayReturn(raw, ['crm'])).toBe(true);
  expect(mayReturn(raw, ['other'])).toBe(false);
});
