/** One agent, one task, every provider: what the run does is the same, whoever the vendor is. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool, ToolError } from '../../authoring/index.js';
import type { RunEvent } from '../../core/state/event.js';
import type { ModelRoute } from '../../core/state/model.js';
import { createAnthropicProvider } from '../../providers/anthropic.js';
import { createOpenAiChatProvider } from '../../providers/openai-chat.js';
import { createOpenAiResponsesProvider } from '../../providers/openai-responses.js';
import type { Provider } from '../../providers/provider.js';
import { resolveRoute } from '../../providers/routes.js';
import { scriptOf } from '../../providers/scripted/script.js';
import { startScriptedModel } from '../../providers/scripted/server.js';
import { openMemoryStore } from '../../store/store.js';
import { SIMULATION_START, startSimulation, virtualClock } from '../../testing/simulation/index.js';

const REPLIES = [
  {
    thinking: 'Both at once.',
    text: 'I look both up.',
    calls: [
      { tool: 'orders.read', input: { id: 'o1' } },
      { tool: 'orders.read', input: { id: 'missing' } },
    ],
    usage: { input: 100, output: 20 },
  },
  {
    calls: [
      { tool: 'orders.note', input: { text: 'seen' } },
      { tool: 'orders.note', rawInput: '{"text": "cut' },
    ],
    usage: { input: 150, output: 10, cacheRead: 50 },
  },
  { text: 'One is sent, one does not exist.', usage: { input: 200, output: 10 } },
];

const VENDORS: readonly {
  readonly name: string;
  readonly connect: (baseUrl: string) => Provider;
}[] = [
  {
    name: 'anthropic',
    connect: (baseUrl) => createAnthropicProvider({ apiKey: 'k', baseUrl }),
  },
  {
    name: 'openai',
    connect: (baseUrl) => createOpenAiChatProvider({ apiKey: 'k', baseUrl: `${baseUrl}/v1` }),
  },
  {
    name: 'openai-responses',
    connect: (baseUrl) => createOpenAiResponsesProvider({ apiKey: 'k', baseUrl: `${baseUrl}/v1` }),
  },
];

async function trajectoryWith(
  vendor: (typeof VENDORS)[number],
): Promise<{ readonly events: readonly object[]; readonly noted: readonly string[] }> {
  const noted: string[] = [];
  const model = await startScriptedModel({ script: scriptOf(REPLIES) });
  const store = await openMemoryStore();
  try {
    const { provider, clock } = heldBy(vendor.connect(model.baseUrl));
    const simulation = startSimulation({
      store,
      config: configFor(vendor.name, noted),
      providers: new Map([[provider.name, provider]]),
      start: { v: 1, agent: 'reader', task: { goal: 'Where are my orders?', taskId: 'task' } },
      runId: 'run_1',
      clock,
    });
    const final = await simulation.finish();
    expect(final).toMatchObject({ kind: 'result', result: { stopReason: 'completed' } });
    expect(simulation.violations).toEqual([]);
    expect(model.exhausted()).toBe(0);
    expect(model.requests()).toHaveLength(REPLIES.length);
    return { events: simulation.events.map((event) => comparable(event, vendor.name)), noted };
  } finally {
    await store.close();
    await model.stop();
  }
}

/** Requests here take real time: until they are answered, virtual time stands still. */
function heldBy(provider: Provider): {
  readonly provider: Provider;
  readonly clock: ReturnType<typeof virtualClock>;
} {
  const clock = virtualClock(SIMULATION_START);
  let open = 0;
  return {
    provider: {
      name: provider.name,
      complete: (request, progress) => {
        open += 1;
        return provider.complete(request, progress).finally(() => void (open -= 1));
      },
    },
    clock: { ...clock, fireNext: () => open > 0 || clock.fireNext() },
  };
}

function configFor(provider: string, noted: string[]) {
  const read = defineTool({
    name: 'orders.read',
    version: '1',
    effect: 'read',
    idempotency: 'natural',
    approval: 'never',
    input: z.object({ id: z.string() }),
    run: async ({ id }) => {
      if (id === 'missing') throw new ToolError('NOT_FOUND', 'There is no such order.');
      return { id, state: 'sent' };
    },
  });
  const note = defineTool({
    name: 'orders.note',
    version: '1',
    effect: 'write',
    idempotency: 'keyed',
    approval: 'never',
    input: z.object({ text: z.string() }),
    run: async ({ text }) => {
      noted.push(text);
      return 'noted';
    },
  });
  const route: ModelRoute = {
    ...resolveRoute('scripted/m'),
    name: `${provider}/m`,
    provider,
  };
  const agent = defineAgent({
    name: 'reader',
    model: route.name,
    instructions: 'Read.',
    tools: [read, note],
  });
  return defineConfig({ agents: [agent], routes: [route] });
}

/** An event without what must differ: the vendor's name, times by the real clock of tools, hashes. */
function comparable(event: RunEvent, provider: string): object {
  const text = JSON.stringify(event)
    .replaceAll(`"${provider}/m"`, '"vendor/m"')
    .replaceAll(`"provider":"${provider}"`, '"provider":"vendor"')
    .replaceAll(/"[0-9a-f]{64}"/g, '"hash"')
    .replaceAll(/"(durationMs|latencyMs|at)":\d+/g, '"$1":0');
  return JSON.parse(text) as object;
}

test('one agent with one task goes the same way with every vendor', async () => {
  const [first, ...others] = await Promise.all(VENDORS.map(trajectoryWith));
  expect(first?.noted).toEqual(['seen']);
  expect(first?.events.length).toBeGreaterThan(10);
  for (const other of others) expect(other).toEqual(first);
});
