/** What reaches a provider of the settings of a run, and of what became of its calls. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool, ToolError } from '../../authoring/index.js';
import type { SettingsOverrides } from '../../core/state/task.js';
import type { Block } from '../../core/state/transcript.js';
import { chatBody } from '../../providers/openai/chat-request.js';
import type { ModelReply, ModelRequest, Provider } from '../../providers/provider.js';
import { openMemoryStore } from '../../store/store.js';
import { startSimulation } from '../../testing/simulation/index.js';

const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };

function replyOf(blocks: readonly Block[]): ModelReply {
  return {
    blocks,
    raw: [],
    stop: blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
    usage: USAGE,
    usageSource: 'reported',
    model: 'm',
    incompleteCalls: 0,
  };
}

const call = (id: string, tool: string): Block => ({ type: 'tool_use', id, tool, args: {} });

async function requestsOf(settings: SettingsOverrides) {
  const replies = [
    replyOf([call('a', 'works'), call('b', 'fails'), call('c', 'nowhere')]),
    replyOf([{ type: 'text', text: 'Done.' }]),
  ];
  const requests: ModelRequest[] = [];
  const provider: Provider = {
    name: 'anthropic',
    complete: (request) => {
      requests.push(request);
      const reply = replies[requests.length - 1];
      return reply === undefined ? Promise.reject(new Error('no reply')) : Promise.resolve(reply);
    },
  };
  const plain = {
    version: '1',
    effect: 'read',
    idempotency: 'natural',
    input: z.object({}),
  } as const;
  const works = defineTool({ ...plain, name: 'works', run: () => 'fine' });
  const fails = defineTool({
    ...plain,
    name: 'fails',
    run: () => {
      throw new ToolError('NOT_FOUND', 'There is none.');
    },
  });
  const agent = defineAgent({
    name: 'helper',
    model: 'scripted/m',
    instructions: 'Help.',
    tools: [works, fails],
    settings,
  });
  const store = await openMemoryStore();
  try {
    const simulation = startSimulation({
      store,
      config: defineConfig({ agents: [agent] }),
      providers: new Map([[provider.name, provider]]),
      start: { v: 1, agent: 'helper', task: { goal: 'Do it.', taskId: 'task' } },
      runId: 'run_1',
    });
    const final = await simulation.finish();
    expect(final).toMatchObject({ kind: 'result', result: { stopReason: 'completed' } });
    expect(simulation.violations).toEqual([]);
    return { requests, events: simulation.events };
  } finally {
    await store.close();
  }
}

test('a model is asked for the betas of the settings, and readers are told of them', async () => {
  const betas = ['files-api-2025-04-14', 'context-1m-2025-08-07'];
  const { requests, events } = await requestsOf({ betas });
  expect(requests.map((request) => request.betas)).toEqual([betas, betas]);
  expect(events[0]).toMatchObject({ type: 'session_init', betas });
  const without = await requestsOf({});
  expect(without.requests[0]).not.toHaveProperty('betas');
  expect(without.events[0]).not.toHaveProperty('betas');
});

test.each(['no, comma', '', 'x'.repeat(101), 'line\nbreak'])('%j is no beta', (beta) => {
  const define = () =>
    defineAgent({
      name: 'helper',
      model: 'scripted/m',
      instructions: 'Help.',
      tools: [],
      settings: { betas: [beta] },
    });
  expect(define).toThrow(/betas/);
});

test('a model learns which error a result is, also where its vendor has no flag for errors', async () => {
  const { requests } = await requestsOf({});
  const [, second] = requests;
  if (second === undefined) throw new Error('there is a second request');
  expect(second.messages.at(-1)?.blocks).toMatchObject([
    { id: 'a', isError: false, text: 'fine' },
    { id: 'b', isError: true, code: 'execution_error' },
    { id: 'c', isError: true, code: 'unknown_tool' },
  ]);
  expect(second.messages.at(-1)?.blocks[0]).not.toHaveProperty('code');
  const sent = JSON.parse(JSON.stringify(chatBody(second, 'openai'))) as {
    readonly messages: readonly { readonly role: string; readonly content: string }[];
  };
  const results = sent.messages.filter(({ role }) => role === 'tool');
  expect(results.map(({ content }) => content)).toEqual([
    'fine',
    JSON.stringify({ error: true, code: 'execution_error', message: 'NOT_FOUND: There is none.' }),
    expect.stringContaining('"code":"unknown_tool"'),
  ]);
});
