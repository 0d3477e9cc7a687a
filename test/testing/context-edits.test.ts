/** A whole run whose vendor leaves parts of the conversation out, and once does not: no request is billed above its bound. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import type { ScriptedMessage } from '../../providers/scripted/script.js';
import { startScriptedModel } from '../../providers/scripted/server.js';
import { openMemoryStore } from '../../store/store.js';
import { outsideWork, providersIn } from '../../testing/outside-work.js';
import { startSimulation } from '../../testing/simulation/index.js';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';

const TYPE = 'clear_tool_uses_20250919';
const LETTER = 'All that is known of the order. '.repeat(900);

const read = defineTool({
  name: 'orders.read',
  version: '1',
  effect: 'read',
  input: z.object({ part: z.number() }),
  run: ({ part }) => (part === 0 ? LETTER : 'nothing more'),
});
const config = defineConfig({
  agents: [
    defineAgent({
      name: 'clerk',
      model: 'anthropic/claude-sonnet-5-5',
      instructions: 'Help.',
      tools: [read],
      // Else the bound has room for anything in its longest reply.
      budget: { maxTokensPerResponse: 50 },
    }),
  ],
  requestOptions: { anthropic: { context_management: { edits: [{ type: TYPE }] } } },
});

const says = (part: number, input: number, cleared?: number): ScriptedMessage => ({
  ...(part === 3 ? { text: 'Read.' } : { calls: [{ tool: 'orders.read', input: { part } }] }),
  usage: { input, output: 20 },
  contextManagement: {
    applied_edits:
      cleared === undefined
        ? []
        : [{ type: TYPE, cleared_tool_uses: 1, cleared_input_tokens: cleared }],
  },
});

test('what was left out once may come back: the bound counts it, and the events say how much it was', async () => {
  const store = await openMemoryStore();
  const replies = [says(0, 300), says(1, 7_500), says(2, 600, 7_000), says(3, 7_800)];
  const vendor = await startScriptedModel({
    script: ({ assistantMessages: n }) => replies[n] ?? { status: 400 },
  });
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
    start: { v: 1, agent: 'clerk', task: { goal: 'Read it all.', taskId: 'task' } },
    runId: 'run_1',
  });
  const final = await simulation.finish();
  await vendor.stop();
  expect(final).toMatchObject({ result: { stopReason: 'completed' } });
  const told = simulation.events.flatMap((event) =>
    event.type === 'model_response' ? [event.clearedTokens] : [],
  );
  expect(told).toEqual([undefined, undefined, 7_000, undefined]);
  expect(simulation.events.filter(({ type }) => type === 'warning')).toEqual([]);
  expect(simulation.violations).toEqual([]);
  // The conversation stays whole: the vendor gets the long result each time.
  for (const { body } of vendor.requests().slice(1)) expect(body).toContain(LETTER);
  await store.close();
});
