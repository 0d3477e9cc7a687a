/**
 * Runs whose decisions hang on a named change of rules 19 (core/step/changes.ts), on a real server. What older rules
 * decide is in the unit tests of each change.
 */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { follows, RULES_VERSION, type ChangeName } from '../../core/step/changes.js';
import { APPROVER } from './support/agents.js';
import { call, ofType, openAsk, say, startWorld, until, type World } from './support/world.js';

const COUNTERS = 'counters';

/** Recordings of older rules decide otherwise. */
const rules = Number(process.env['HOLDFAST_RULES'] ?? RULES_VERSION);
const has = (change: ChangeName): boolean => follows({ rules }, change);

const refund = defineTool({
  name: 'payments.refund',
  version: '1',
  effect: 'financial',
  idempotency: 'keyed',
  approval: { roles: [...APPROVER.roles] },
  limits: { perDay: { count: 1 } },
  input: z.object({ order: z.string() }),
  run: () => 'refunded',
});

const countOpen = defineTool({
  name: 'orders.open',
  version: '1',
  effect: 'read',
  queue: COUNTERS,
  input: z.object({}),
  run: () => ({ open: 0 }),
});

const config = () => {
  const agent = { model: 'scripted/model', instructions: 'Serve the customer.', tools: [refund] };
  return defineConfig({
    agents: [
      defineAgent({ name: 'desk', ...agent }),
      defineAgent({ name: 'talker', ...agent, settings: { afterAnswer: 'await_user' } }),
    ],
    checkTools: [countOpen],
  });
};

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.serve({ config: config() });
  await world.serve({ config: config(), taskQueue: COUNTERS, serves: 'activities' });
});
afterAll(() => world.stop());

test('clientMessageIds: the event of a message names the id that its sender gave', async () => {
  const run = await world.start({
    runId: 'client-ids',
    agent: 'talker',
    replies: [say('Hello.'), say('Bye.')],
  });
  await run.sendMessage('And now?', 'msg-of-the-sender');
  await until('the second answer', async () =>
    ofType(await world.events(run.runId), 'model_response').length === 2 ? true : undefined,
  );
  await run.close();
  const { events } = await world.ended(run);
  const ids = ofType(events, 'user_message').map(({ clientMessageId }) => clientMessageId);
  expect(ids).toContain(has('clientMessageIds') ? 'msg-of-the-sender' : undefined);
});

test('unpricedModels: a model that a person names is looked up with the money of the run', async () => {
  const run = await world.start({
    runId: 'unlimited',
    agent: 'talker',
    budget: { maxCostMicroUsd: 'unlimited' },
    replies: [say('Hello.'), say('Bye.')],
  });
  await run.setModel('scripted/other');
  await run.sendMessage('And now?');
  await until('the second answer', async () =>
    ofType(await world.events(run.runId), 'model_response').length === 2 ? true : undefined,
  );
  await run.close();
  const { history } = await world.ended(run);
  const names = (history.events ?? []).map(
    ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name,
  );
  expect(names).toContain('resolve_model');
});

test('limitsBeforeAsk: a call of whose limit nothing is left asks nobody', async () => {
  const pay = call('payments.refund', { order: 'A1' });
  const first = await world.start({ runId: 'within', replies: [pay, say('Paid.')] });
  await first.approve((await openAsk(first)).askId, APPROVER);
  await world.ended(first);
  const again = call('payments.refund', { order: 'A2' });
  const second = await world.start({ runId: 'beyond', replies: [again, say('Not paid.')] });
  if (!has('limitsBeforeAsk')) await second.approve((await openAsk(second)).askId, APPROVER);
  const { events } = await world.ended(second);
  expect(ofType(events, 'approval_requested')).toHaveLength(has('limitsBeforeAsk') ? 0 : 1);
  expect(ofType(events, 'tool_finished').map(({ code }) => code)).toEqual(['limit_exceeded']);
});

test('checksQueued: a check of a goal goes to the task queue of its tool', async () => {
  const goalId = 'queued-check';
  world.script(`${goalId}:c1`, [say('Looked.')]);
  const goal = await world.client.startGoal({
    goalId,
    wait: false,
    definition: {
      objective: 'No order is open.',
      agent: 'desk',
      validation: [{ name: 'orders.open' }],
      done: { all: [{ check: 'orders.open', path: 'open', equals: 0 }] },
      budget: { maxCostMicroUsd: 2_000_000 },
    },
  });
  await until('the end', async () =>
    ofType(await world.events(goalId), 'goal_result').length > 0 ? true : undefined,
  );
  expect((await goal.state()).status).toBe('completed');
  const queues = ((await world.history(goalId)).events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: one }) =>
      one?.activityType?.name === 'run_check' ? [one.taskQueue?.name] : [],
  );
  expect(new Set(queues)).toEqual(new Set([has('checksQueued') ? COUNTERS : 'holdfast']));
});
