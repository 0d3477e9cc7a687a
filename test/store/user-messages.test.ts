import type { EventBody } from '../../core/state/event.js';
import type { Store } from '../../store/store.js';
import { askView, cleanUp, eventsFrom, newStore, SESSION_INIT } from './fixtures.js';

const A = { tenant: 't', runId: 'r1', execution: 'exec-a' };
const B = { ...A, execution: 'exec-b' };

let store: Store;
beforeEach(async () => {
  store = (await newStore()).store;
});
afterEach(cleanUp);

const words = (n: number, clientMessageId?: string): EventBody => ({
  type: 'user_message',
  messageId: `r1:m${n}`,
  text: { text: 'Yes.' },
  ...(clientMessageId !== undefined && { clientMessageId }),
});
const letter: EventBody = { ...words(9, 'u1'), from: { run: 'r2', agent: 'desk' } } as EventBody;

test('A message is found by what its sender calls it, within its tenant.', async () => {
  await store.appendEvents(A, eventsFrom(0, [SESSION_INIT, words(1, 'u1'), words(2), letter]));
  const found = [{ runId: 'r1', seq: 1, messageId: 'r1:m1' }];
  expect(await store.messagesNamed('t', 'u1')).toEqual(found);
  expect(await store.messagesNamed('other', 'u1')).toEqual([]);
  expect(await store.messagesNamed('t', 'u2')).toEqual([]);
});

test('Runs of others that know a name hide none of the runs that are meant.', async () => {
  const one = (runId: string) =>
    store.appendEvents({ ...A, runId }, eventsFrom(0, [words(1, 'u1')]));
  for (let n = 0; n < 101; n += 1) await one(`a${n}`);
  await one('chat_1.x');
  await one('chat_12.x');
  const found = await store.messagesNamed('t', 'u1', 'chat_1.');
  expect(found.map(({ runId }) => runId)).toEqual(['chat_1.x']);
});

test('All messages that a run has heard are told in their order, letters left out.', async () => {
  await store.appendEvents(A, eventsFrom(0, [SESSION_INIT, words(1, 'u1'), letter, words(2)]));
  const heard = await store.messagesHeardBy('t', 'r1');
  expect(heard.map(({ seq, messageId }) => [seq, messageId])).toEqual([
    [1, 'r1:m1'],
    [3, 'r1:m2'],
  ]);
  expect(await store.messagesHeardBy('other', 'r1')).toEqual([]);
});

test('The newest message of a run is told, also one without a name, and up to an event; letters are none.', async () => {
  await store.appendEvents(A, eventsFrom(0, [SESSION_INIT]));
  expect(await store.lastMessageOf('t', 'r1')).toBeUndefined();
  await store.appendEvents(A, eventsFrom(1, [words(1, 'u1'), words(2), letter]));
  expect(await store.lastMessageOf('t', 'r1')).toMatchObject({ seq: 2, messageId: 'r1:m2' });
  expect(await store.lastMessageOf('t', 'r1', 1)).toMatchObject({ seq: 1 });
  expect(await store.lastMessageOf('t', 'r1', 0)).toBeUndefined();
});

test('A reset forgets the messages that it takes back.', async () => {
  await store.appendEvents(
    A,
    eventsFrom(0, [SESSION_INIT, words(1, 'u1'), words(2, 'u2'), words(3, 'u4')]),
  );
  await store.appendEvents(B, eventsFrom(2, [words(2, 'u3')], 5000));
  expect(await store.messagesNamed('t', 'u1')).toHaveLength(1);
  expect(await store.messagesNamed('t', 'u2')).toEqual([]);
  expect(await store.messagesNamed('t', 'u4')).toEqual([]);
  expect(await store.messagesNamed('t', 'u3')).toMatchObject([{ seq: 2 }]);
});

test('Questions that were open before an event are told, whatever became of them.', async () => {
  const ask = (id: string): EventBody => ({ type: 'approval_requested', ...askView(id) });
  const withdrawn = (askId: string) =>
    ({ type: 'approval_withdrawn', askId, reason: 'gone' }) as unknown as EventBody;
  const bodies = [SESSION_INIT, ask('r1:1'), ask('r1:2'), withdrawn('r1:1'), words(1), ask('r1:3')];
  await store.appendEvents(A, eventsFrom(0, [...bodies, withdrawn('r1:2')]));
  const open = await store.asksOpenAt({ tenant: 't', runId: 'r1', seq: 4 });
  expect(open.map(({ askId }) => askId)).toEqual(['r1:2']);
});

test('Of the sessions whose ids begin alike the last one is found, once a run of it is open.', async () => {
  const init = (sessionId: string): EventBody => ({ ...SESSION_INIT, sessionId }) as EventBody;
  const run = (runId: string) => ({ ...A, runId });
  const sessions = ['chat_1', 'chat_1.b0002', 'chat_1.b0010', 'chat_10.b0099', 'chat_2.b0003'];
  for (const id of sessions) await store.appendEvents(run(id), eventsFrom(0, [init(id)]));
  expect(await store.lastSessionBelow('t', 'chat_1.b')).toBe('chat_1.b0010');
  expect(await store.lastSessionBelow('t', 'chat_3.b')).toBeUndefined();
  expect(await store.lastSessionBelow('other', 'chat_1.b')).toBeUndefined();
});

test('A reader of a stream begins with the attempt that its event is in.', async () => {
  const stream = { tenant: 't', runId: 'r1' };
  expect(await store.placeInStream(stream, { since: -1, until: 0 })).toBeUndefined();
  for (const eventsBefore of [2, 5, 9]) {
    const call = eventsBefore;
    const opening = { ...stream, call, attempt: 1, messageId: `r1:m${call}`, eventsBefore };
    await store.openStream({ ...opening, keepMs: 1000, at: 1 });
    const rest = [
      {
        ...stream,
        call,
        attempt: 1,
        messageId: `r1:m${call}`,
        fence: [2, 5, 9].indexOf(call) + 1,
        first: 1,
        entries: [{ kind: 'attempt_ended' } as const],
      },
    ];
    await store.endStream({ ...stream, fence: rest[0]!.fence, rest, chars: 0 });
  }
  const place = (since: number, until: number) => store.placeInStream(stream, { since, until });
  expect(await place(-1, 0)).toEqual({ fence: 1, index: 0 });
  expect(await place(-1, 6)).toEqual({ fence: 2, index: 0 });
  expect(await place(3, 3)).toEqual({ fence: 2, index: 0 });
  expect(await place(3, 9)).toEqual({ fence: 3, index: 0 });
  expect(await place(9, 9)).toEqual({ fence: 4, index: 0 });
});
