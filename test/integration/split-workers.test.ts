/** Workflows, activities and dangerous tools in workers of their own. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { call, say, startWorld, until, type History, type World } from './support/world.js';

const JAIL = 'jail';
const places: string[] = [];

/** What one worker serves; its tools say where they ran. */
function configAt(place: string) {
  const ran = async () => void places.push(place);
  return defineConfig({
    agents: [
      defineAgent({
        name: 'desk',
        model: 'scripted/model',
        instructions: 'Serve the customer.',
        policy: { version: '1', rules: [{ tool: 'shell.run', decision: 'allow' }] },
        tools: [
          defineTool({
            name: 'shell.run',
            version: '1',
            effect: 'execute',
            idempotency: 'none',
            queue: JAIL,
            input: z.object({ command: z.string() }),
            run: ran,
          }),
        ],
      }),
    ],
    worker: { activitiesAtOnce: 5, activitiesPerSecond: 50, activityPollers: 2 },
  });
}

function queuesIn(history: History): ReadonlyMap<string, string> {
  const scheduled = (history.events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: one }) =>
      one ? [[one.activityType?.name ?? '', one.taskQueue?.name ?? ''] as const] : [],
  );
  return new Map(scheduled);
}

let world: World;
beforeAll(async () => void (world = await startWorld({ worker: false })));
afterAll(() => world.stop());

test('a tool runs on the workers of its queue alone, and waits for them without loss', async () => {
  await world.serve({ serves: 'workflows', config: configAt('workflows') });
  await world.serve({ serves: 'activities', config: configAt('activities') });
  const run = await world.start({
    runId: 'split',
    replies: [call('shell.run', { command: 'ls' }), say('Listed.')],
  });
  await until('the call to be scheduled', async () =>
    queuesIn(await world.history('split')).has('execute_tool') ? true : undefined,
  );
  expect(await world.client.workerCount(JAIL)).toBe(0);
  expect(places).toEqual([]);
  await world.serve({ serves: 'activities', taskQueue: JAIL, config: configAt(JAIL) });
  expect((await world.ended(run)).result.status).toBe('completed');
  expect(places).toEqual([JAIL]);
  const queues = queuesIn(await world.history('split'));
  expect(queues.get('execute_tool')).toBe(JAIL);
  for (const kind of ['open_run', 'call_model', 'close_run']) {
    expect([kind, queues.get(kind)]).toEqual([kind, 'holdfast']);
  }
  expect(await world.client.workerCount(JAIL)).toBe(1);
});
