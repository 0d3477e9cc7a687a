/** Hooks and completion gates on a real Temporal server: what the worker's code says reaches the run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent, defineConfig, defineHook, defineTool } from '../../authoring/index.js';
import { replayRuns } from '../../testing/replay.js';
import { call, ofType, say, startWorld, until, type World } from './support/world.js';

/** What hooks were told, by run: `point what`. */
const told = new Map<string, string[]>();

function note(runId: string, line: string): number {
  const lines = [...(told.get(runId) ?? []), line];
  told.set(runId, lines);
  return lines.length;
}

const lookup = defineTool({
  name: 'stock.read',
  version: '1',
  effect: 'read',
  input: z.object({ item: z.string() }),
  run: ({ item }) => ({ item, left: item === 'lamp' ? 3 : 0, pad: 'x'.repeat(9_000) }),
});

const hooks = [
  defineHook({
    name: 'greet',
    point: 'SessionStart',
    run: ({ source }, { runId }) => {
      note(runId, `SessionStart ${source}`);
      return { additionalContext: 'The warehouse is in Ghent.' };
    },
  }),
  defineHook({
    name: 'spell',
    point: 'PreToolUse',
    run: async ({ tool_input }, { runId, signal }) => {
      const { item } = tool_input as { item: string };
      note(runId, `PreToolUse ${item}`);
      if (item === 'wait') await sleep(60_000, undefined, { signal });
      return item === 'lmap' ? { updatedInput: { item: 'lamp' } } : null;
    },
  }),
  defineHook({
    name: 'log',
    point: 'PostToolUse',
    run: ({ tool_response }, { runId }) => void note(runId, `PostToolUse ${tool_response.length}`),
  }),
  defineHook({
    name: 'judge',
    point: 'Stop',
    run: ({ response, stopHookActive }, { runId }) => {
      note(runId, `Stop ${stopHookActive}`);
      return response.includes('"sure":true') ? {} : { blockingErrors: ['Be sure.'] };
    },
  }),
  defineHook({
    name: 'bye',
    point: 'SessionEnd',
    run: ({ reason }, { runId }) => void note(runId, `SessionEnd ${reason}`),
  }),
];

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  const agent = defineAgent({
    name: 'stock',
    model: 'scripted/model',
    instructions: 'Count.',
    tools: [lookup],
    hooks,
  });
  await world.serve({ config: defineConfig({ agents: [agent] }) });
});
afterAll(() => world.stop());

test('hooks of every kind, an output schema and evidence work together, and the history replays', async () => {
  const run = await world.start({
    runId: 'counted',
    agent: 'stock',
    task: {
      goal: 'How many lamps are left?',
      requiredEvidence: [
        { id: 'left', satisfiedBy: 'stock.read', predicate: { path: 'left', gte: 1 } },
      ],
      successCriteria: [{ id: 'three', when: { path: 'output.left', equals: 3 } }],
      outputSchema: {
        type: 'object',
        properties: { left: { type: 'integer' }, sure: { type: 'boolean' } },
        required: ['left', 'sure'],
      },
    },
    replies: [
      call('stock.read', { item: 'lmap' }),
      say('Three.'),
      say('{"left":3,"sure":false}'),
      say('{"left":3,"sure":true}'),
    ],
  });
  const { result, events } = await world.ended(run);
  expect(result).toMatchObject({
    stopReason: 'completed',
    detail: 'output',
    output: { left: 3, sure: true },
    counters: { modelCalls: 4, stopHookReentries: 1, toolCalls: 1 },
    hooks: [
      { point: 'SessionStart', hook: 'greet', outcome: 'ok' },
      { point: 'SessionEnd', hook: 'bye', outcome: 'ok' },
    ],
  });
  expect(told.get('counted')).toEqual([
    'SessionStart startup',
    'PreToolUse lmap',
    expect.stringMatching(/^PostToolUse 90\d\d$/),
    'Stop false',
    'Stop true',
    'SessionEnd completed',
  ]);
  expect(ofType(events, 'tool_started')).toMatchObject([{ args: { item: 'lamp' } }]);
  expect(ofType(events, 'transition').map(({ reason }) => reason)).toEqual([
    'next_turn',
    'output_schema_retry',
    'stop_hook_blocking',
  ]);
  const [first] = world.requests('counted');
  expect(first?.body).toContain('The warehouse is in Ghent.');
  expect(first?.body).toContain('must match this JSON Schema');
  expect([...(await replayRuns(world.place, ['counted']))]).toEqual([]);
});

test('an interrupt reaches a hook that is at work, and SessionEnd still runs once', async () => {
  const run = await world.start({
    runId: 'waited',
    agent: 'stock',
    replies: [call('stock.read', { item: 'wait' }), say('late')],
  });
  await until('the hook', () =>
    told.get('waited')?.includes('PreToolUse wait') ? true : undefined,
  );
  await run.interrupt();
  const { result, events } = await world.ended(run);
  expect(result).toMatchObject({ stopReason: 'interrupted', phase: 'before_tools' });
  expect(ofType(events, 'tool_finished')).toMatchObject([{ code: 'interrupted', started: false }]);
  expect(told.get('waited')).toEqual([
    'SessionStart startup',
    'PreToolUse wait',
    'SessionEnd interrupted',
  ]);
});
