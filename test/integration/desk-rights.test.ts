/** What whoever may only answer sees at the desk: their own questions, and nothing else of any run. */
import { idOf, newKey, startDesk, type Name, type TestDesk } from './support/desk.js';
import { call, ofType, openAsk, pay, say, startWorld, type World } from './support/world.js';

interface Question {
  readonly askId: string;
  readonly runId: string;
}

let world: World;
let desk: TestDesk;

beforeAll(async () => {
  world = await startWorld();
  desk = await startDesk(world, { deciders: ['manager'] });
});
afterAll(async () => {
  await desk.stop();
  await world.stop();
});

async function listed(path: string, as: Name): Promise<readonly string[]> {
  const { status, body } = await desk.get(path, as);
  expect({ path, as, status }).toEqual({ path, as, status: 200 });
  return (body!['items'] as readonly Question[]).map(({ askId }) => askId);
}

test('whoever decides nowhere sees the questions that they may answer, answers them, and reads no run', async () => {
  const paying = await world.start({ runId: 'paying', replies: [pay('pay.asked'), say('Paid.')] });
  const asking = await world.start({
    runId: 'asking',
    replies: [call('ask_person', { question: 'Which colour?' }), say('Blue then.')],
  });
  const [approval, question] = [(await openAsk(paying)).askId, (await openAsk(asking)).askId];
  expect(await listed('/v1/inbox', 'mia')).toEqual(expect.arrayContaining([approval, question]));

  expect(await listed('/v1/inbox', 'clerk')).toEqual([question]);
  expect((await desk.get('/v1/inbox', 'clerk')).body).toMatchObject({ total: 1 });
  expect(await listed('/v1/approvals', 'clerk')).toEqual([]);
  expect(await listed('/v1/questions', 'clerk')).toEqual([question]);
  expect((await desk.get('/v1/me', 'clerk')).body).toMatchObject({ may: ['answer'] });
  expect((await desk.get('/v1/me', 'mia')).body).toMatchObject({
    may: ['answer', 'read', 'message', 'interrupt', 'steer', 'freeze'],
  });
  for (const path of [`/v1/inbox/${approval}`, `/v1/approvals/${approval}`]) {
    expect({ path, status: (await desk.get(path, 'clerk')).status }).toEqual({ path, status: 404 });
  }
  const closed = [
    '/v1/runs',
    '/v1/runs/asking',
    '/v1/runs/asking/events',
    '/v1/effects?identity=a',
  ];
  for (const path of [...closed, `/v1/inbox/${question}/grounds`]) {
    expect({ path, status: (await desk.get(path, 'clerk')).status }).toEqual({ path, status: 403 });
  }
  const message = await desk.post('/v1/runs/asking/messages', { text: 'Hurry.' }, { as: 'clerk' });
  expect(message.status).toBe(403);
  const interrupt = await desk.post('/v1/runs/asking/interrupt', {}, { as: 'clerk' });
  expect(interrupt.status).toBe(403);

  const path = `/v1/questions/${question}/answers`;
  const answer = await desk.post(path, { value: 'blue' }, { as: 'clerk', key: newKey() });
  expect(answer).toMatchObject({ status: 200, body: { outcome: 'answered' } });
  expect((await world.ended(asking)).result.status).toBe('completed');
  await paying.reject(approval, { by: idOf('mia'), roles: ['manager'] });
  await world.ended(paying);
});

test('of two answers that one person sends at the same moment the one that the model reads counts', async () => {
  const run = await world.start({
    runId: 'twice',
    replies: [call('ask_person', { question: 'Which colour?' }), say('That one then.')],
  });
  const { askId } = await openAsk(run);
  const colours = ['blue', 'red'];
  const answers = await Promise.all(
    colours.map((value) =>
      desk.post(`/v1/questions/${askId}/answers`, { value }, { as: 'clerk', key: newKey() }),
    ),
  );
  const { events } = await world.ended(run);
  const read = JSON.stringify(ofType(events, 'tool_finished')[0]?.content);
  for (const [place, { status, body }] of answers.entries()) {
    const isRead = read === JSON.stringify({ text: colours[place] });
    const said = isRead ? { outcome: 'answered' } : { code: 'already_decided' };
    expect({ status, body }).toMatchObject({ status: isRead ? 200 : 409, body: said });
  }
});

test('the configuration may open runs to others, and answering to fewer', async () => {
  const console = { access: { read: ['clerk'], message: ['clerk'], answer: ['manager'] } };
  const other = await startDesk(world, { deciders: ['manager'], trusted: false, console });
  expect((await other.get('/v1/runs', 'clerk')).status).toBe(200);
  expect((await other.get('/v1/runs', 'mia')).status).toBe(403);
  expect((await other.get('/v1/questions', 'clerk')).status).toBe(403);
  expect((await other.get('/v1/questions', 'mia')).status).toBe(200);
  await other.stop();
});
