import { chatHandler } from '../../http/index.js';
import { runIdOf, startedBy } from '../../http/chat.js';
import { endOf } from '../../http/end-of-message.js';
import { storedMessages } from '../../http/stored.js';
import { dropNote, note, unreadAtStop, unreadIn, withUnread } from '../../http/unread.js';
import { chatWith, Runs } from './runs.js';

/** A run that works on the first message, and hears no other. */
async function working() {
  const runs = new Runs();
  runs.queues = true;
  const served = chatWith(runs);
  const { runId } = await served.say('u1', 'Pay.');
  return { runs, ...served, runId };
}

const ids = (messages: readonly { readonly id: string }[]) => messages.map(({ id }) => id);

test('messages that a run has left unread are at the end of the conversation, and say so', async () => {
  const { runs, chat, say, submitting, runId } = await working();
  await say('u2', 'Wait.');
  await say('u3', 'Not that one.');
  expect(await unreadIn(chat)).toMatchObject({ left: [], waiting: [{ id: 'u2' }, { id: 'u3' }] });
  runs.end(runId);
  const told = await storedMessages(submitting.deliveries, chat);
  const data = { messages: [{ id: 'u2', text: 'Wait.' }] };
  expect(ids(told)).toEqual(['u2', 'u3']);
  expect(told[0]).toEqual({
    id: 'u2',
    role: 'user',
    parts: [
      { type: 'text', text: 'Wait.', state: 'done' },
      { type: 'data-holdfast-unread', id: 'unread', data },
    ],
  });
});

test('the next message begins its run with them, in order and once, and says the same when it is sent again', async () => {
  const { runs, chat, say, submitting, runId } = await working();
  await say('u2', 'Wait.');
  await say('u3', 'Not that one.');
  runs.end(runId);
  const at = await say('u4', 'This one.');
  const goal = 'Wait.\n\nNot that one.\n\nThis one.';
  expect(runs.starts.at(-1)).toMatchObject({ runId: at.runId, task: { goal } });
  expect(await unreadIn(chat)).toEqual({ left: [], waiting: [] });
  // Each of them is answered by that run, in every process.
  const other = chatWith(runs);
  expect(await other.say('u2', 'Wait.')).toMatchObject({ runId: at.runId });
  expect(await other.say('u4', 'This one.')).toEqual(at);
  runs.end(at.runId);
  expect(await storedMessages(submitting.deliveries, chat)).toEqual([]);
  await say('u5', 'Thanks.');
  expect(runs.starts.map(({ task }) => task.goal)).toEqual(['Pay.', goal, 'Thanks.']);
});

test('a message that is made anew keeps what it brought along, and what it brought along is not changed alone', async () => {
  const { runs, chat, say, runId } = await working();
  await say('u2', 'Wait.');
  runs.end(runId);
  const at = await say('u3', 'This one.');
  runs.end(at.runId);
  const goal = 'Wait.\n\nThis one.';
  runs.spoken.set(chat.base, [{ messageId: `${at.runId}:m0`, role: 'user', text: goal }]);
  expect(await say('u3', 'This one.', { kind: 'text' })).toMatchObject({ runId: at.runId });
  await say('u3', 'This one.', { kind: 'answer', of: at.runId });
  expect(runs.starts.at(-1)).toMatchObject({ task: { goal } });
  expect(runs.starts).toHaveLength(3);
  const { runs: over, ...before } = await working();
  await before.say('u2', 'Wait.');
  over.end(before.runId);
  await before.say('u3', 'This one.');
  await expect(before.say('u2', 'Go.', { kind: 'text' })).rejects.toMatchObject({
    status: 409,
    facts: { code: 'not_possible' },
  });
});

test('a message that is sent again by itself is the beginning of its own run, and is not told twice', async () => {
  const { runs, chat, say, runId } = await working();
  await say('u2', 'Wait.');
  await say('u3', 'Not that one.');
  runs.end(runId);
  const at = await chatWith(runs).say('u2', 'Wait.');
  expect(runs.starts.at(-1)).toMatchObject({ runId: runIdOf(chat, 'u2'), task: { goal: 'Wait.' } });
  expect(ids((await unreadIn(chat)).left)).toEqual(['u3']);
  // The one behind it goes to the open run in its order.
  runs.queues = false;
  await chatWith(runs).say('u4', 'This one.');
  const heard = runs.heard.map(({ runId: of, text }) => [of, text]);
  expect(heard).toEqual([
    [at.runId, 'Not that one.'],
    [at.runId, 'This one.'],
  ]);
  expect(await unreadIn(chat)).toEqual({ left: [], waiting: [] });
});

test('of two processes that go on behind a stopped run one takes a message along', async () => {
  const { runs, say, chat, runId } = await working();
  await say('u2', 'Wait.');
  runs.end(runId);
  const [one, other] = [chatWith(runs), chatWith(runs)];
  runs.queues = false;
  await Promise.all([one.say('u3', 'Three.'), other.say('u2', 'Wait.'), other.say('u4', 'Four.')]);
  const goals = runs.starts.slice(1).map(({ task }) => task.goal);
  const words = [...goals, ...runs.heard.map(({ text }) => text)].join(' ');
  for (const text of ['Wait.', 'Three.', 'Four.']) expect(words.split(text)).toHaveLength(2);
  expect(await unreadIn(chat)).toEqual({ left: [], waiting: [] });
});

test('a message whose taker never began is told as unread, and the next message takes it', async () => {
  const { runs, chat, say, runId } = await working();
  await say('u2', 'Wait.');
  runs.end(runId);
  const [left] = (await unreadIn(chat)).left;
  runs.marks.set(left!.key, startedBy('gone'));
  expect(ids((await unreadIn(chat)).left)).toEqual(['u2']);
  await say('u3', 'This one.');
  expect(runs.starts.at(-1)).toMatchObject({ task: { goal: 'Wait.\n\nThis one.' } });
});

test('a message that its run has read is not told as unread, also where a worker of an older release noted nothing', async () => {
  const { runs, chat, say, runId } = await working();
  runs.queues = false;
  await say('u2', 'Wait.');
  runs.end(runId);
  expect(await unreadIn(chat)).toEqual({ left: [], waiting: [] });
  const old = await working();
  await old.say('u2', 'Wait.');
  old.runs.end(old.runId);
  const handle = old.runs.handle;
  const event = { type: 'user_message', text: { text: 'Wait.' } };
  old.runs.handle = (of) => ({
    ...handle(of),
    events: async function* () {
      yield event as never;
    },
  });
  expect(await unreadIn(old.chat)).toEqual({ left: [], waiting: [] });
});

test('a stop and the end of the stream say which messages were left unread', async () => {
  const { runs, chat, say, runId } = await working();
  await say('u2', 'Wait.');
  const stopping = unreadAtStop(chat);
  setTimeout(() => runs.end(runId), 60);
  expect(await stopping).toMatchObject([{ id: 'u2', text: 'Wait.' }]);
  const finish = { type: 'finish', finishReason: 'other' } as const;
  const messages = [{ id: 'u2', text: 'Wait.' }];
  expect(await withUnread(chat, runId, [finish])).toEqual([
    { type: 'data-holdfast-unread', id: 'unread', data: { messages } },
    finish,
  ]);
  await say('u3', 'Go on.');
  expect(await withUnread(chat, runId, [finish])).toEqual([finish]);
});

test('stop answers with the messages that were left unread, and with nothing where there are none', async () => {
  const runs = new Runs();
  runs.queues = true;
  const handler = chatHandler({ client: runs as never, agent: 'desk', insecure: true });
  const { say } = chatWith(runs, 'developer');
  await say('u1', 'Pay.');
  const conversations = { ...runs.conversations, running: async () => [] };
  Object.assign(runs, { conversations });
  const stop = () => handler(new Request('http://localhost/api/c1/stop', { method: 'POST' }));
  await say('u2', 'Wait.');
  const response = await stop();
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ unread: [{ id: 'u2', text: 'Wait.' }] });
  const page = await handler(new Request('http://localhost/api/c1/messages'));
  expect(await page.json()).toMatchObject({ messages: [{ id: 'u2' }] });
  await say('u3', 'Go on.');
  expect((await stop()).status).toBe(204);
});

test('what was sent to a run that nobody knows any more is unread, and goes with the next message', async () => {
  const { runs, chat, say, runId } = await working();
  await say('u2', 'Wait.');
  runs.end(runId);
  runs.forgotten.add(runId);
  expect(await unreadIn(chat)).toMatchObject({ left: [{ id: 'u2' }] });
  const at = await say('u3', 'This one.');
  expect(runs.starts.at(-1)).toMatchObject({
    runId: at.runId,
    task: { goal: 'Wait.\n\nThis one.' },
  });
});

test('a message that two servers send on to the same run at once stays noted until it is read', async () => {
  const { runs, chat, say, runId } = await working();
  await say('u2', 'Two.');
  await say('u3', 'Three.');
  runs.end(runId);
  const at = await chatWith(runs).say('u2', 'Two.');
  await Promise.all([chatWith(runs).say('u4', 'Four.'), chatWith(runs).say('u5', 'Five.')]);
  runs.end(at.runId);
  const { left } = await unreadIn(chat);
  expect(ids(left).toSorted()).toEqual(['u3', 'u4', 'u5']);
  await say('u6', 'Six.');
  expect(runs.starts.at(-1)?.task.goal.split('\n\n').toSorted()).toEqual([
    'Five.',
    'Four.',
    'Six.',
    'Three.',
  ]);
});

test('a message that no run takes is refused, and is in front of no other', async () => {
  const { runs, chat, say, runId } = await working();
  await expect(say('u2', 'x'.repeat(8_193))).rejects.toMatchObject({ code: 'InvalidTask' });
  expect(await unreadIn(chat)).toEqual({ left: [], waiting: [] });
  runs.end(runId);
  await say('u3', 'Short.');
  expect(runs.starts.at(-1)?.task.goal).toBe('Short.');
});

test('what a failed start had in front of it stays within the length of a task when the message comes again longer', async () => {
  const { runs, chat, say, runId } = await working();
  await say('u2', 'y'.repeat(8_000));
  runs.end(runId);
  runs.startFails = true;
  await expect(say('u3', 'x'.repeat(190_000))).rejects.toMatchObject({ code: 'ServerUnavailable' });
  runs.startFails = false;
  runs.open.clear();
  runs.unopened.clear();
  const other = chatWith(runs);
  await other.say('u3', 'x'.repeat(199_000));
  expect(runs.starts.at(-1)?.task.goal).toHaveLength(199_000);
  runs.end(runs.starts.at(-1)!.runId);
  expect(ids((await unreadIn(chat)).left)).toEqual(['u2']);
});

test('a message that is sent to a run after all, for which its note was dropped, is unread there again', async () => {
  const { runs, chat, say, runId } = await working();
  await say('u2', 'Wait.');
  await dropNote(chat, 'u2', runId);
  expect(await unreadIn(chat)).toEqual({ left: [], waiting: [] });
  await note(chat, { id: 'u2', text: 'Wait.' }, { runId, after: 4 });
  expect(ids((await unreadIn(chat)).waiting)).toEqual(['u2']);
  runs.end(runId);
  await say('u3', 'This one.');
  expect(runs.starts.at(-1)?.task.goal).toBe('Wait.\n\nThis one.');
});

test('what a failed start had in front of it, and another run has read since, is not told again', async () => {
  const { runs, chat, say, runId } = await working();
  await say('u2', 'Wait.');
  runs.end(runId);
  const [left] = (await unreadIn(chat)).left;
  runs.marks.set(left!.key, startedBy('u3'));
  const other = runIdOf(chat, 'u4');
  await runs.start({ runId: other, task: { goal: 'Four.' } } as never);
  runs.queues = false;
  await chatWith(runs).say('u2', 'Wait.');
  expect(runs.heard).toMatchObject([{ runId: other, text: 'Wait.' }]);
  runs.end(other);
  await chatWith(runs).say('u3', 'Three.');
  expect(runs.starts.at(-1)?.task.goal).toBe('Three.');
});

test('the end of a run that a change has replaced tells no words that waited in it', async () => {
  const { runs, chat, say, runId } = await working();
  await say('u2', 'Wait.');
  runs.end(runId);
  const run = { type: 'data-holdfast-run', data: { state: 'ended', stopReason: 'interrupted' } };
  const finish = { type: 'finish', finishReason: 'other' };
  const chunks = [run, finish] as never;
  expect(await endOf(chat, runId, chunks)).toContainEqual(
    expect.objectContaining({ type: 'data-holdfast-unread' }),
  );
  await runs.conversations.begins(`${chat.sessionId}#9`, `other.${startedBy('u1')}#x`);
  runs.spoken.set('other', []);
  expect(await endOf(chat, runId, chunks)).toEqual([
    { ...run, data: { ...run.data, replaced: true } },
    finish,
  ]);
});

test('a chat whose id takes its most characters in a path is found there', async () => {
  const runs = new Runs();
  Object.assign(runs, { conversations: { ...runs.conversations, running: async () => [] } });
  const handler = chatHandler({ client: runs as never, agent: 'desk', insecure: true });
  const path = `http://localhost/api/${encodeURIComponent('\u6771'.repeat(200))}`;
  expect((await handler(new Request(`${path}/messages`))).status).toBe(200);
  expect((await handler(new Request(`${path}/stop`, { method: 'POST' }))).status).toBe(204);
});
