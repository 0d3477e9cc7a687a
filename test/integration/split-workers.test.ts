/** Workflows, activities and dangerous tools in workers of their own. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import {
  call,
  ofType,
  say,
  startWorld,
  until,
  warnings,
  type History,
  type World,
} from './support/world.js';

const JAIL = 'jail';
/** Nobody works on it. */
const CELL = 'cell';
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
        policy: { version: '1', rules: [{ tool: '*', decision: 'allow' }] },
        tools: [
          ['shell.run', JAIL],
          ['cell.run', CELL],
        ].map(([name, queue]) =>
          defineTool({
            name: name!,
            version: '1',
            effect: 'execute',
            idempotency: 'none',
            queue: queue!,
            input: z.object({ command: z.string() }),
            run: ran,
          }),
        ),
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

test('a queue on which nobody works is named, and given up when its time is over', async () => {
  const requiredEvidence = [{ id: 'listed', satisfiedBy: 'cell.run' }];
  const run = await world.start({
    runId: 'empty-queue',
    replies: [call('cell.run', { command: 'ls' }), say('Listed.')],
    task: { goal: 'List.', requiredEvidence },
    settings: { unservedTimeoutMs: 13_000 },
  });
  const wait = await until('the wait', async () => (await run.execution()).waits[0]);
  expect(wait).toMatchObject({
    for: `a worker of the task queue ${CELL}`,
    activity: 'execute_tool',
  });
  const { result, events } = await world.ended(run);
  expect(result).toMatchObject({ stopReason: 'tool_unavailable', status: 'failed' });
  expect(ofType(events, 'tool_finished')).toMatchObject([{ code: 'tool_unavailable' }]);
  expect(warnings(events)).toContain('queue_unserved');
  expect(places).not.toContain(CELL);
});
