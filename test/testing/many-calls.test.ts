/** Replies with more calls than are made, with the real core, activities and store. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import type { Json } from '../../core/json/json.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { Block } from '../../core/state/transcript.js';
import type { Provider, RequestMessage } from '../../providers/provider.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { startSimulation } from '../../testing/simulation/index.js';

let store: MemoryStore;
beforeAll(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.empty());
afterAll(() => store.close());

type Use = Extract<Block, { type: 'tool_use' }>;

/** A run whose model says these calls, and then that it is done; what it was asked second. */
async function played(ids: readonly string[], rawOf: (uses: readonly Use[]) => Json = rawBlocks) {
  const ran: string[] = [];
  const read = defineTool({
    name: 'read',
    version: '1',
    effect: 'read',
    input: z.object({ id: z.string() }),
    run: async ({ id }) => {
      ran.push(id);
      return `it is ${id}`;
    },
  });
  const uses = ids.map((id): Use => ({ type: 'tool_use', id, tool: 'read', args: { id } }));
  const asked: (readonly RequestMessage[])[] = [];
  const provider: Provider = {
    name: 'anthropic',
    complete: async ({ model, messages }) => {
      asked.push(messages);
      const first = messages.length === 1;
      return {
        blocks: first ? uses : [{ type: 'text', text: 'done' }],
        raw: first ? rawOf(uses) : [],
        stop: first ? 'tool_use' : 'end_turn',
        usage: { ...NO_USAGE, input: 10, output: 1 },
        usageSource: 'reported',
        model,
        incompleteCalls: 0,
      };
    },
  };
  const agent = defineAgent({
    name: 'a',
    model: 'scripted/m',
    instructions: 'Read.',
    tools: [read],
  });
  const simulation = startSimulation({
    store,
    config: defineConfig({ agents: [agent] }),
    providers: new Map([[provider.name, provider]]),
    start: { v: 1, agent: 'a', task: { goal: 'Read.', taskId: 'task' } },
    runId: 'run_1',
  });
  const final = await simulation.finish();
  expect(simulation.violations).toEqual([]);
  expect(final).toMatchObject({ kind: 'result', result: { stopReason: 'completed' } });
  expect(asked).toHaveLength(2);
  const [, assistant, answers] = asked[1]!;
  return { ran, final, events: simulation.events, assistant: assistant!, answers: answers! };
}

function rawBlocks(uses: readonly Use[]): Json {
  return uses.map(({ id, args }) => ({ type: 'tool_use', id, name: 'read', input: args }));
}

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `c${index}`);
}

function results({ blocks }: RequestMessage) {
  return blocks.filter((block) => block.type === 'tool_result');
}

function callIds({ blocks }: RequestMessage): readonly string[] {
  return blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}

test('of 200 calls the first 48 run, and the model sees why the others did not', async () => {
  const ids = numbered(200);
  const { ran, final, events, assistant, answers } = await played(ids);
  expect(ran.toSorted()).toEqual(ids.slice(0, 48).toSorted());
  expect(callIds(assistant)).toEqual(ids);
  expect(assistant.raw).toHaveLength(200);
  expect(results(answers).map(({ id }) => id)).toEqual(ids);
  expect(results(answers).map(({ isError }) => isError)).toEqual(ids.map((_, n) => n >= 48));
  expect(results(answers)[48]).toMatchObject({
    code: 'not_executed',
    text: expect.stringMatching(/at most 48 calls .* next replies/),
  });
  expect(final).toMatchObject({
    result: { counters: { proposedCalls: 200, toolCalls: 48, notStartedCalls: 152 } },
  });
  expect(events.filter(({ type }) => type === 'warning')).toMatchObject([
    { code: 'surplus_calls', message: expect.stringContaining('200 calls: 48 are made') },
  ]);
});

test('of ten thousand calls a part is kept, and the model sees that it is one', async () => {
  const { final, assistant, answers } = await played(numbered(10_000));
  expect(callIds(assistant)).toEqual(numbered(256));
  expect(assistant.raw).toHaveLength(256);
  expect(results(answers).map(({ id }) => id)).toEqual(numbered(256));
  expect(results(answers)[255]).toMatchObject({ text: expect.stringContaining('first 256') });
  expect(final).toMatchObject({ result: { counters: { proposedCalls: 10_000 } } });
});

test("a vendor's own form that cannot be shortened is given up with the calls", async () => {
  const { assistant } = await played(numbered(300), (uses) => ({ output: rawBlocks(uses) }));
  expect(assistant.raw).toBeNull();
  expect(callIds(assistant)).toHaveLength(256);
});

test('a call with a very long id is made under a short one, in every form of the reply', async () => {
  const long = 'i'.repeat(500);
  const { ran, assistant, answers } = await played([long, 'c1', '\u0007'.repeat(40)], (uses) => ({
    output: rawBlocks(uses),
  }));
  expect(ran.toSorted()).toEqual(['\u0007'.repeat(40), 'c1', long]);
  const ids = callIds(assistant);
  expect(ids).toEqual([
    expect.stringMatching(/^call_\w{32}$/),
    'c1',
    expect.stringMatching(/^call_/),
  ]);
  expect(new Set(ids).size).toBe(3);
  expect(results(answers).map(({ id, isError }) => [id, isError])).toEqual(
    ids.map((id) => [id, false]),
  );
  expect(assistant.raw).toMatchObject({ output: ids.map((id) => ({ id })) });
});
