import type { SDKMessage } from '../../core/sdk/message.js';
import { all, ask, follow, type Asked } from './support/queries.js';
import { read, say, startWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const told = (asked: Asked) => all(ask(world, asked));

function streamed(messages: readonly SDKMessage[], messageId: string): string {
  return messages
    .flatMap((message) =>
      message.type === 'stream_event' &&
      message.message_id === messageId &&
      message.event.type === 'content_block_delta' &&
      message.event.delta.type === 'text_delta'
        ? [message.event.delta.text]
        : [],
    )
    .join('');
}

function replies(messages: readonly SDKMessage[]) {
  return messages.flatMap((message, index) =>
    message.type === 'assistant' ? [{ id: message.message.id, index, message }] : [],
  );
}

const POEM = 'There was a run that never slept, and every token that it kept was told. '.repeat(9);

test.concurrent('S155: without a word nothing is streamed', async () => {
  const messages = await told({ runId: 'quiet', replies: [say(POEM)] });
  expect(messages.filter(({ type }) => type === 'stream_event')).toEqual([]);
});

test.concurrent('S155: pieces of a reply come before it, and say the same', async () => {
  const messages = await told({
    runId: 'loud',
    replies: [{ ...read('cup'), text: 'Let me look.' }, say(POEM)],
    includePartialMessages: true,
  });
  const said = replies(messages);
  expect(said).toHaveLength(2);
  expect(said.map(({ id }) => streamed(messages, id))).toEqual(['Let me look.', POEM]);
  for (const { id, index } of said) {
    const places = messages.flatMap((message, place) =>
      message.type === 'stream_event' && message.message_id === id ? [place] : [],
    );
    expect(Math.max(...places)).toBeLessThan(index);
  }
  // The second reply begins after the results that it is an answer to.
  const results = messages.findIndex(({ type }) => type === 'user');
  const second = messages.findIndex(
    (message) => message.type === 'stream_event' && message.message_id === said[1]!.id,
  );
  expect(second).toBeGreaterThan(results);
  expect(messages[0]).toMatchObject({ type: 'system', subtype: 'init' });
  expect(messages.at(-1)).toMatchObject({ type: 'result' });
});

test.concurrent('a tool call grows piece by piece under its name', async () => {
  const messages = await told({
    runId: 'growing',
    replies: [read('cup'), say('Blue.')],
    includePartialMessages: true,
  });
  const events = messages.flatMap((message) =>
    message.type === 'stream_event' && message.call === 1 ? [message.event] : [],
  );
  expect(events[0]).toMatchObject({ type: 'message_start' });
  expect(events[1]).toMatchObject({
    type: 'content_block_start',
    content_block: { type: 'tool_use', name: 'facts.read' },
  });
  const json = events.flatMap((event) =>
    event.type === 'content_block_delta' && event.delta.type === 'input_json_delta'
      ? [event.delta.partial_json]
      : [],
  );
  expect(JSON.parse(json.join(''))).toEqual({ item: 'cup' });
  expect(events.slice(-2).map(({ type }) => type)).toEqual(['content_block_stop', 'message_stop']);
});

test.concurrent(
  'a reader that comes back gets no piece twice and none of old messages',
  async () => {
    const first: SDKMessage[] = [];
    const options = { includePartialMessages: true } as const;
    const script = [{ ...read('cup'), text: 'Let me look.' }, say(POEM)];
    for await (const message of ask(world, { runId: 'back', replies: script, ...options })) {
      first.push(message);
      if (message.type === 'user') break;
    }
    const rest = await all(follow(world, 'back', { ...options, afterSeq: first.at(-1)!.seq }));
    const [reply] = replies(rest);
    expect(streamed(rest, reply!.id)).toBe(POEM);
    const whole = await all(follow(world, 'back', options));
    const uuids = (messages: readonly SDKMessage[]) => messages.map(({ uuid }) => uuid);
    expect(uuids([...first, ...rest])).toEqual(uuids(whole));
    expect(new Set(uuids(whole)).size).toBe(whole.length);
  },
);

test.concurrent(
  'a run that does not stream is not held up by a reader who wants it to',
  async () => {
    await told({ runId: 'silent', replies: [read('a'), read('b'), read('c'), say('Done.')] });
    const began = performance.now();
    const messages = await all(follow(world, 'silent', { includePartialMessages: true }));
    expect(replies(messages)).toHaveLength(4);
    expect(performance.now() - began).toBeLessThan(4_000);
  },
);
