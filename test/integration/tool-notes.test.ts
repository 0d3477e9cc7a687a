/** What a tool tells of its progress. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { call, ofType, say, startWorld, type World } from './support/world.js';

const slow = defineTool({
  name: 'slow',
  version: '1',
  effect: 'read',
  input: z.object({}),
  run: (_input, { note }) => {
    for (let step = 1; step <= 12; step += 1) note?.(`step ${step}`);
    return 'done';
  },
});

let world: World;
beforeAll(async () => {
  const agent = defineAgent({
    name: 'noting',
    model: 'scripted/model',
    instructions: 'Use the tool.',
    tools: [slow],
  });
  world = await startWorld({ workerSettings: { config: defineConfig({ agents: [agent] }) } });
});
afterAll(() => world.stop());

test('the first ten notes of an execution are events, and the model sees the result alone', async () => {
  const { result, events } = await world.ended(
    await world.start({
      runId: 'noted',
      agent: 'noting',
      replies: [call('slow', {}), say('Done.')],
    }),
  );
  expect(result.completed).toBe(true);
  const notes = ofType(events, 'tool_note').map(({ message }) => message);
  expect(notes).toEqual(Array.from({ length: 10 }, (_, index) => `step ${index + 1}`));
  expect(world.requests('noted').at(-1)?.body).not.toContain('step 1');
});
