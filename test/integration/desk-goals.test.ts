/** A goal on a real server, reached over the desk: looked at, steered with a signature, its first cycle approved. */
import { newKey, startDesk, type TestDesk } from './support/desk.js';
import { AGENT } from './support/agents.js';
import { ANY_RUN, say, startWorld, until, type World } from './support/world.js';

let world: World;
let desk: TestDesk;

beforeAll(async () => {
  world = await startWorld();
  desk = await startDesk(world);
});
afterAll(async () => {
  await desk?.stop();
  await world?.stop();
});

test('a goal is shown, steered with the signature of the desk, and its cycle approved in the inbox', async () => {
  world.script(ANY_RUN, [say('Done for today.')]);
  const goal = await world.client.startGoal({
    goalId: 'march',
    definition: {
      objective: 'All invoices of March are matched.',
      agent: AGENT,
      done: { all: [{ person: { roles: ['manager'], question: 'Are all matched?' } }] },
      budget: { maxCostMicroUsd: 10_000_000 },
      approval: [{ before: 'first_cycle', roles: ['manager'] }],
      pace: 'when_woken',
    },
  });
  const path = '/v1/goals/march';
  const asked = await until('the question', async () => {
    const { body } = await desk.get(path);
    const [first] = (body?.pending ?? []) as readonly { askId: string; argsHash: string }[];
    return first;
  });
  const steered = await desk.post(
    `${path}/steer`,
    { text: 'Start with the oldest.' },
    { as: 'rita', key: newKey() },
  );
  expect(steered).toMatchObject({ status: 200, body: { state: 'taken' } });
  const events = async () =>
    ((await desk.get(`${path}/events`)).body?.events ?? []) as readonly Record<string, unknown>[];
  const word = await until('the word', async () =>
    (await events()).find(({ type }) => type === 'goal_steered'),
  );
  expect(word).toMatchObject({ by: 'service:rita', proven: true });
  // What was steered is another cycle: the question is asked anew.
  const again = await until('the new question', async () => {
    const { body } = await desk.get(path);
    const pending = (body?.pending ?? []) as readonly { askId: string; argsHash: string }[];
    return pending.find(({ askId }) => askId !== asked.askId);
  });
  const card = (await desk.get(`/v1/inbox/${encodeURIComponent(again.askId)}`)).body;
  expect(card).toMatchObject({ goal: { about: 'cycle', cycle: 1, agent: AGENT } });
  const { brief = '' } = (card?.goal ?? {}) as { readonly brief?: string };
  expect((await desk.get(`${path}/brief?n=1&digest=${brief}`)).body).toMatchObject({
    task: expect.stringContaining('Start with the oldest.'),
  });
  const decision = { decision: 'approve', argsHash: again.argsHash, runId: 'march' };
  const to = `/v1/approvals/${encodeURIComponent(again.askId)}/decisions`;
  expect((await desk.post(to, decision, { as: 'rita', key: newKey() })).status).toBe(403);
  expect((await desk.post(to, decision, { as: 'rolf', key: newKey() })).status).toBe(200);
  await until('the end of the cycle', async () =>
    (await events()).find(({ type }) => type === 'cycle_ended'),
  );
  expect((await desk.get(path)).body).toMatchObject({
    view: { cycles: 1 },
    definition: { agent: AGENT },
  });
  await goal.cancel({ by: 'test' });
});
