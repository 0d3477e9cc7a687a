/** Requests of a chat whose store says nothing: not even that it is away. */
import type { Chat } from '../../http/chat.js';
import { deliveries } from '../../http/deliveries.js';
import { interruptAll } from '../../http/stopping.js';
import { timedClient } from '../../http/timed-client.js';
import { chatting } from './away.js';

/** A store has so long to answer. */
const STORE_MS = 5_000;

function silent() {
  const all = chatting();
  all.away.isSilent = true;
  return all;
}

/** Streams of requests go by real turns. */
async function bodyRead(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => jest.useRealTimers());

test('a stop reaches the runs that Temporal has of the chat at once, each of them once, and is told within the time of a store', async () => {
  const { away, runId, post } = silent();
  away.running = [runId, `${runId}:a1`, 'run_of_others'];
  const response = post('/c1/stop');
  await jest.advanceTimersByTimeAsync(10);
  expect(away.interrupted).toEqual([runId]);
  await jest.advanceTimersByTimeAsync(STORE_MS);
  expect((await response).status).toBe(204);
  expect(away.interrupted).toEqual([runId]);
});

test('a stop that reached no run is not acknowledged', async () => {
  const { away, runId, post } = silent();
  away.running = [runId];
  away.gone = [runId];
  const response = post('/c1/stop');
  await jest.advanceTimersByTimeAsync(STORE_MS + 10);
  expect((await response).status).toBe(503);
});

test('a decision is sent, and told as sent in the time of a store', async () => {
  const { away, runId, open, answer } = silent();
  const askId = open(`${runId}:3`, { storeAway: undefined });
  away.storeAway = false;
  const response = answer({ askId, decision: 'approve' });
  await bodyRead();
  await jest.advanceTimersByTimeAsync(STORE_MS + 10);
  expect((await response).status).toBe(202);
  expect(await (await response).text()).toContain('The answer was sent');
  expect(away.decided).toMatchObject([{ askId, decision: 'approve' }]);
});

test('a store that was away for an answer is not waited for again', async () => {
  const { away, runId, open, answer } = silent();
  const askId = open(`${runId}:3`);
  away.storeAway = false;
  const response = await answer({ askId, decision: 'approve' });
  expect(await response.text()).toContain('The answer was sent');
});

const MESSAGE = { id: 'u9', role: 'user', parts: [{ type: 'text', text: 'Hello.' }] };

test.each([
  ['the stream', 'GET', '/c1/stream', undefined],
  ['the conversation', 'GET', '/c1/messages', undefined],
  ['a message', 'POST', '', { id: 'c1', messages: [MESSAGE] }],
])('who asks for %s hears in time to ask again', async (_, method, path, body) => {
  const { ask } = silent();
  const response = ask(method, path, body);
  await bodyRead();
  await jest.advanceTimersByTimeAsync(STORE_MS + 10);
  const { status, headers } = await response;
  expect([status, headers.get('retry-after')]).toEqual([503, '5']);
});

test.each([
  ['the stream', 'GET', '/c1/stream', undefined],
  ['the conversation', 'GET', '/c1/messages', undefined],
  ['a message', 'POST', '', { id: 'c1', messages: [MESSAGE] }],
])(
  'of a store that falls silent between two reads for %s as well',
  async (_, method, path, body) => {
    const { away, ask } = silent();
    away.answers = 1;
    const response = ask(method, path, body);
    await bodyRead();
    await jest.advanceTimersByTimeAsync(2 * STORE_MS + 10);
    expect((await response).status).toBe(503);
  },
);

test('reads of the store alone have its time: what asks Temporal has its own', async () => {
  const never = () => new Promise<never>(() => undefined);
  const wants = { conversations: { running: never, lastSeq: never }, session: never };
  const { conversations, session } = timedClient(wants as never);
  const ends: string[] = [];
  const end = (name: string) => () => void ends.push(name);
  void conversations.running('a').catch(end('running'));
  void conversations.lastSeq('a').catch(end('lastSeq'));
  void session('a').catch(end('session'));
  await jest.advanceTimersByTimeAsync(STORE_MS + 10);
  expect(ends.toSorted()).toEqual(['lastSeq', 'session']);
});

describe('of a stop with a store', () => {
  /** A chat whose store has these runs as open, and Temporal's list those. */
  function both(stored: readonly string[], listed: () => Promise<readonly string[]>) {
    const interrupted: string[] = [];
    const client = {
      handle: (runId: string) => ({
        interrupt: async () => void interrupted.push(runId),
      }),
      conversations: { running: listed, lastSession: async () => undefined },
      session: async () => ({ openRuns: stored }),
    };
    const chat = { client, base: 'chat_x', sessionId: 'chat_x', lastSession: 'chat_x' };
    return { chat: chat as unknown as Chat, interrupted };
  }

  test('each run is interrupted once, also one that only the store or only the list has', async () => {
    const { chat, interrupted } = both(['chat_x.1', 'chat_x.2'], async () => [
      'chat_x.2',
      'chat_x.3',
    ]);
    await interruptAll(deliveries(), chat);
    expect(interrupted.toSorted()).toEqual(['chat_x.1', 'chat_x.2', 'chat_x.3']);
  });

  test('a list that fails or is late holds nothing up, and runs of a late one are those of a later message', async () => {
    const failing = both(['chat_x.1'], () => Promise.reject(new Error('no list')));
    await interruptAll(deliveries(), failing.chat);
    let list: (runs: readonly string[]) => void = () => undefined;
    const late = both(['chat_x.1'], () => new Promise((resolve) => (list = resolve)));
    await interruptAll(deliveries(), late.chat);
    list(['chat_x.1', 'chat_x.4']);
    await jest.advanceTimersByTimeAsync(10);
    expect([failing.interrupted, late.interrupted]).toEqual([['chat_x.1'], ['chat_x.1']]);
  });
});
