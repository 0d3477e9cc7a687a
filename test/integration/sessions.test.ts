/** Sessions over a real server: kept, gone on with, forked, exported. */
import type { ScriptedAnswer } from '../../testing/index.js';
import { openAsk, pay, read, say, startWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** A script counts every reply of the conversation: those of earlier runs are not asked for again. */
function after(earlier: number, reply: ScriptedAnswer): readonly ScriptedAnswer[] {
  return [...Array.from({ length: earlier }, () => say('Never said.')), reply];
}

function conversation(runId: string): string {
  const body = world.requests(runId).at(-1)?.body;
  return JSON.stringify((JSON.parse(body!) as { messages: unknown }).messages);
}

test('a session goes on in another run, which sees all of it, and is forked from a message', async () => {
  const cwd = '/desk';
  const first = await world.start({
    runId: 'first',
    task: { goal: 'What colour is the cup?', caller: 'ada' },
    replies: [read('cup'), say('It is blue.')],
    persistSession: true,
    cwd,
  });
  const { result } = await world.ended(first);
  expect(result.session).toEqual({ id: 'first', saved: true });

  const second = await world.start({
    runId: 'second',
    task: { goal: 'And the plate?', caller: 'ada' },
    continue: true,
    replies: after(2, say('White.')),
    cwd,
  });
  const { result: again, events } = await world.ended(second);
  expect(again.session).toEqual({ id: 'first', saved: true });
  expect(events[0]).toMatchObject({ sessionId: 'first', resumed: { messages: 4 } });
  expect(conversation('second')).toMatch(/colour is the cup.*It is blue\..*And the plate/);

  const whole = await world.client.transcript('first');
  expect(whole).toMatchObject({ kind: 'session', session: { revision: 2 } });
  expect(whole.messages.map(({ role }) => role[0]).join('')).toBe('uauaua');

  const answer = whole.messages[3]!;
  const fork = await world.start({
    runId: 'fork',
    task: 'And the spoon?',
    resume: 'first',
    fork: { at: answer.messageId },
    replies: after(2, say('Silver.')),
  });
  const { result: forked } = await world.ended(fork);
  expect(forked.session).toEqual({ id: 'fork', saved: true });
  expect(conversation('fork')).toMatch(/It is blue\..*And the spoon/);
  expect(conversation('fork')).not.toMatch(/plate/);
  // The tool of the prefix has run once, in the first run.
  expect(world.requests('fork')).toHaveLength(1);
  expect((await world.client.transcript('first')).messages).toHaveLength(6);
  const listed = await world.client.listSessions({ limit: 10 });
  expect(listed.map(({ sessionId }) => sessionId)).toEqual(['fork', 'first']);
});

test('the conversation of a run that waits is read so far as it is stored', async () => {
  const run = await world.start({ runId: 'waits', replies: [pay('pay.asked'), say('Paid.')] });
  await openAsk(run);
  const { kind, messages } = await world.client.transcript('waits');
  expect(kind).toBe('run');
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(messages[1]).toMatchObject({ calls: [{ tool: 'pay.asked' }] });
  await run.cancel();
  await world.ended(run);
  expect((await world.client.transcript('waits')).messages.length).toBeGreaterThan(2);
});

test('a session whose run is open waits for it, may be forked, and is not found elsewhere', async () => {
  const talk = { agent: 'talker', persistSession: true };
  const begun = await world.start({ ...talk, runId: 'busy', replies: [say('Hi.')] });
  await openAsk(begun);
  await begun.close();
  await world.ended(begun);
  const going = await world.start({
    ...talk,
    runId: 'going',
    resume: 'busy',
    replies: after(1, say('Yes?')),
  });
  await openAsk(going);
  const other = { runId: 'other', resume: 'busy', replies: after(1, say('Late.')) };
  await expect(world.start(other)).rejects.toMatchObject({
    code: 'SessionBusy',
    details: { runId: 'going' },
  });
  const fork = await world.start({ ...other, fork: true });
  expect((await world.ended(fork)).result.session).toEqual({ id: 'other', saved: true });
  await going.close();
  await world.ended(going);
  await expect(
    world.start({ runId: 'foreign', resume: 'busy', tenant: 'shop', replies: [] }),
  ).rejects.toMatchObject({ code: 'SessionNotFound' });
  await expect(
    world.start({ runId: 'lost', resume: 'nowhere', replies: [] }),
  ).rejects.toMatchObject({ code: 'SessionNotFound' });
});

test('a run that was terminated keeps nobody from its session', async () => {
  const talk = { agent: 'talker', persistSession: true };
  const begun = await world.start({ ...talk, runId: 'base', replies: [say('Hi.')] });
  await openAsk(begun);
  await begun.close();
  await world.ended(begun);
  const lost = await world.start({
    ...talk,
    runId: 'gone',
    resume: 'base',
    replies: after(1, say('Hm.')),
  });
  await openAsk(lost);
  await world.raw.workflow.getHandle('gone').terminate();
  const next = await world.start({
    runId: 'next',
    resume: 'base',
    replies: after(1, say('Back.')),
  });
  expect((await world.ended(next)).result.session).toEqual({ id: 'base', saved: true });
});
