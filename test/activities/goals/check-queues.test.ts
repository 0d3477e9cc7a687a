/** Where the checks of a goal run, by what their tools declare. */
import { z } from 'zod';
import { checkQueues } from '../../../activities/goal/frozen-checks.js';
import { defineAgent, defineConfig, defineTool } from '../../../authoring/index.js';
import type { NormalGoal } from '../../../authoring/goal/normal-goal.js';

function queueOf(declared: object, sandboxQueue?: string): string | undefined {
  const tool = defineTool({
    name: 'count_open',
    version: '1',
    effect: 'read',
    input: z.object({}),
    run: () => 0,
    ...declared,
  } as Parameters<typeof defineTool>[0]);
  const agent = defineAgent({ name: 'desk', model: 'm', instructions: 'Count.', tools: [tool] });
  const goal = { agent: 'desk', validation: [{ name: 'open', tool: 'count_open' }] };
  const queues = checkQueues(defineConfig({ agents: [agent] }), goal as unknown as NormalGoal, {
    served: [],
    ...(sandboxQueue !== undefined && { sandboxQueue }),
  });
  return queues.get('open');
}

const INSIDE = { sandbox: 'required', sandboxRun: () => 0 };

test('a check runs on the queue that its tool names', () => {
  expect(queueOf({ queue: 'ledger' }, 'desk.sandbox')).toBe('ledger');
});

test('a check whose tool has to run in a sandbox goes to the sandbox queue', () => {
  expect(queueOf(INSIDE, 'desk.sandbox')).toBe('desk.sandbox');
  expect(queueOf({ ...INSIDE, sandboxQueue: 'cells' }, 'desk.sandbox')).toBe('cells');
  expect(queueOf({ ...INSIDE, queue: 'ledger' }, 'desk.sandbox')).toBe('ledger');
});

test('a check that needs no sandbox stays with its goal', () => {
  expect(queueOf({}, 'desk.sandbox')).toBeUndefined();
  expect(queueOf({ sandbox: 'optional', sandboxRun: () => 0 }, 'desk.sandbox')).toBeUndefined();
  expect(queueOf(INSIDE)).toBeUndefined();
});
