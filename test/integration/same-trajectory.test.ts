/** One agent, one task, three vendors on a real server: what the run does, asks and pays is the same. */
import { defineConfig } from '../../authoring/index.js';
import type { RunEvent } from '../../core/state/event.js';
import { resolveRoute } from '../../providers/routes.js';
import {
  createAnthropicProvider,
  createOpenAiChatProvider,
  createOpenAiResponsesProvider,
  type Provider,
  type ScriptedAnswer,
} from '../../testing/index.js';
import { APPROVER, config } from './support/agents.js';
import { openAsk, startWorld, type Ended, type World } from './support/world.js';

const VENDORS = ['anthropic', 'openai', 'openai-responses'] as const;
type Vendor = (typeof VENDORS)[number];

const REPLIES: readonly ScriptedAnswer[] = [
  {
    thinking: 'Both at once.',
    text: 'I look both up.',
    calls: [
      { tool: 'facts.read', input: { item: 'cup' } },
      { tool: 'odd.read', input: { how: 'throws' } },
    ],
    usage: { input: 100, output: 20 },
  },
  {
    calls: [
      { tool: 'notes.write', input: { item: 'seen' } },
      { tool: 'notes.write', rawInput: '{"item": "cut' },
    ],
    usage: { input: 150, output: 10, cacheRead: 50 },
  },
  {
    calls: [{ tool: 'pay.asked', input: { order: 'A1', amountCents: 700 } }],
    usage: { input: 180, output: 12 },
  },
  { text: 'The cup is blue, and it is paid.', usage: { input: 200, output: 10 } },
];

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  const { agents } = config({ serviceUrl: world.service.url });
  const route = resolveRoute('scripted/model');
  const routes = VENDORS.map((provider) => ({ ...route, name: `${provider}/model`, provider }));
  const providers = providersAt(world.model.baseUrl);
  await world.serve({
    config: defineConfig({ agents: [...agents.values()], routes }),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
  });
});
afterAll(() => world.stop());

function providersAt(baseUrl: string): readonly Provider[] {
  const [apiKey, versioned] = ['k', `${baseUrl}/v1`];
  return [
    createAnthropicProvider({ apiKey, baseUrl }),
    createOpenAiChatProvider({ apiKey, baseUrl: versioned }),
    createOpenAiResponsesProvider({ apiKey, baseUrl: versioned }),
  ];
}

async function play(vendor: Vendor): Promise<Ended> {
  const run = await world.start({
    runId: runIdOf(vendor),
    model: `${vendor}/model`,
    replies: REPLIES,
    settings: { includePartialMessages: true },
  });
  await run.approve((await openAsk(run)).askId, APPROVER);
  return world.ended(run);
}

const runIdOf = (vendor: Vendor): string => `way-of-${vendor}`;

/** Without what must differ: names of the vendor and the run, hashes with these in them, times. */
function comparable(events: readonly RunEvent[], vendor: Vendor): unknown {
  const text = JSON.stringify(events)
    .replaceAll(runIdOf(vendor), 'way')
    .replaceAll(`"${vendor}/model"`, '"vendor/model"')
    .replaceAll(`"provider":"${vendor}"`, '"provider":"vendor"')
    .replaceAll(/"[0-9a-f]{64}"/g, '"hash"')
    .replaceAll(/"nonce":"[^"]*"/g, '"nonce":"name"')
    .replaceAll(/"(\w*Ms|\w*[aA]t)":\d+/g, '"$1":0');
  return JSON.parse(text);
}

test('one agent with one task goes the same way with every vendor', async () => {
  const ended = new Map<Vendor, Ended>();
  for (const vendor of VENDORS) ended.set(vendor, await play(vendor));
  const { events, result } = ended.get('anthropic')!;
  expect(result).toMatchObject({ completed: true, counters: { modelCalls: 4, invalidCalls: 1 } });
  for (const vendor of VENDORS) {
    const other = ended.get(vendor)!;
    expect(comparable(other.events, vendor)).toEqual(comparable(events, 'anthropic'));
    expect(other.result.costMicroUsd).toBe(result.costMicroUsd);
    expect(world.requests(runIdOf(vendor))).toHaveLength(REPLIES.length);
    const effects = world.service.visits(runIdOf(vendor), 'effect').map(({ tool }) => tool);
    expect(effects).toEqual(['notes.write', 'pay.asked']);
  }
});

test('what each of them says is streamed with the same words', async () => {
  for (const vendor of VENDORS) {
    let said = '';
    for await (const chunk of world.client.handle(runIdOf(vendor)).stream({ untilNow: true })) {
      if (chunk.kind === 'delta' && chunk.delta.type === 'text') said += chunk.delta.text;
    }
    expect(said).toBe('I look both up.The cup is blue, and it is paid.');
  }
});
