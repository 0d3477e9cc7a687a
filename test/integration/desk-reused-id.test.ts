/** An id that two tenants had one after the other: the desk of the first reaches nothing of the second's run. */
import { newKey, startDesk, type Reply, type TestDesk } from './support/desk.js';
import { openAsk, pay, say, startWorld, until, type World } from './support/world.js';

const ID = 'refund-42';

let world: World;
let desk: TestDesk;
beforeAll(async () => {
  world = await startWorld();
  desk = await startDesk(world);
});
afterAll(async () => {
  await desk?.stop();
  await world.stop();
});

/** What the store would still have of a run of bob's tenant that Temporal has long forgotten. */
async function hadBefore(runId: string): Promise<void> {
  const { events } = await world.store.readEvents(
    { tenant: 'default', runId },
    { sinceSeq: 0, limit: 100 },
  );
  await world.store.appendEvents({ tenant: 'other', runId, execution: 'long-gone' }, events);
}

test('no message, interrupt, decision, answer or look crosses over', async () => {
  const run = await world.start({ runId: ID, replies: [pay('pay.asked'), say('Finished.')] });
  const ask = await openAsk(run);
  await until('the question in the store', () => world.store.getAsk('default', ask.askId));
  await hadBefore(ID);

  const question = encodeURIComponent(ask.askId);
  const decision = { decision: 'approve', argsHash: ask.argsHash };
  const attempts: readonly (() => Promise<Reply>)[] = [
    () => desk.post(`/v1/runs/${ID}/messages`, { text: 'Pay it to me.' }, { as: 'bob' }),
    () => desk.post(`/v1/runs/${ID}/interrupt`, {}, { as: 'bob' }),
    () => desk.post(`/v1/approvals/${question}/decisions`, decision, { as: 'bob', key: newKey() }),
    () => desk.get(`/v1/runs/${ID}/state`, 'bob'),
  ];
  for (const attempt of attempts) {
    expect(await attempt()).toMatchObject({ status: 409, body: { code: 'run_ended' } });
  }
  const card = await desk.get(`/v1/inbox/${question}`, 'bob');
  expect(card.status).toBe(200);
  expect(card.body).not.toHaveProperty('votes');
  const trail = await world.store.readAudit('other', { runId: ID, limit: 100 });
  // What was tried is told, and after it that it did not arrive.
  const refused = 'decision_refused';
  const tried = ['message_sent', refused, 'interrupted', refused, 'decided', refused];
  expect(trail.map(({ kind }) => kind)).toEqual(['asked', ...tried, 'seen']);

  expect(await run.state()).toMatchObject({ status: 'awaiting_approval', queuedMessages: 0 });
  expect(world.service.visits(ID, 'effect')).toEqual([]);
  // Whose run it is decides on it as ever.
  expect(
    await desk.post(`/v1/approvals/${question}/decisions`, decision, { key: newKey() }),
  ).toMatchObject({ status: 200 });
  await world.ended(run);
  expect(world.service.visits(ID, 'effect')).toHaveLength(1);
});
