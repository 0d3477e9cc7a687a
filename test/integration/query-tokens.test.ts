import type { SDKMessage } from '../../pure/sdk/message.js';
import { all, ask, follow, type QueryOfTest } from './support/queries.js';
import { read, say, startWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const told = (asked: QueryOfTest) => all(ask(world, asked));

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

const uuidsOf = (messages: readonly SDKMessage[]) => messages.map(({ uuid }) => uuid);
const cursorOf = (message: SDKMessage) =>
  message.type === 'stream_event' ? message.cursor : undefined;

/** Where a reader stands that has read these messages, as it would tell when it comes back. */
function placeAfter(messages: readonly SDKMessage[]) {
  const afterCursor = messages.map(cursorOf).findLast((cursor) => cursor !== undefined);
  return { afterSeq: messages.at(-1)!.seq, ...(afterCursor !== undefined && { afterCursor }) };
}

test.concurrent(
  'a reader that comes back in any reply, at any piece of it, misses nothing and knows what it has seen',
  async () => {
    const options = { includePartialMessages: true } as const;
    const replies = [
      { ...read('cup'), text: 'Let me look.', chunks: 3 },
      { ...read('bowl'), text: 'And there.', chunks: 3 },
      { ...say('The cup is blue, the bowl is green.'), chunks: 5 },
    ];
    await told({ runId: 'anywhere', replies, ...options });
    const whole = await all(follow(world, 'anywhere', options));
    const places = whole.flatMap((message, index) =>
      cursorOf(message) === undefined ? [] : [index],
    );
    expect(places.length).toBeGreaterThan(15);
    for (const place of places) {
      const before = whole.slice(0, place + 1);
      const rest = await all(follow(world, 'anywhere', { ...options, ...placeAfter(before) }));
      const known = new Set(uuidsOf(before));
      expect(uuidsOf(rest.filter(({ uuid }) => !known.has(uuid)))).toEqual(
        uuidsOf(whole.slice(place + 1)),
      );
    }
  },
);

test.concurrent(
  'a reader that comes back while a later reply is being said hears the rest',
  async () => {
    const options = { includePartialMessages: true } as const;
    const replies = [
      { ...read('cup'), text: 'Let me look.' },
      { ...say('One two three four five six.'), chunks: 8, chunkDelayMs: 150 },
    ];
    const first: SDKMessage[] = [];
    for await (const message of ask(world, { runId: 'live-back', replies, ...options })) {
      first.push(message);
      const isSecond = message.type === 'stream_event' && message.call === 2;
      if (isSecond && message.event.type === 'content_block_delta') break;
    }
    const rest = await all(follow(world, 'live-back', { ...options, ...placeAfter(first) }));
    const whole = await all(follow(world, 'live-back', options));
    expect(uuidsOf([...first, ...rest])).toEqual(uuidsOf(whole));
  },
);

test.concurrent('a reader that knows a cursor only hears of the session first', async () => {
  const options = { includePartialMessages: true } as const;
  const messages = await told({ runId: 'cursor-only', replies: [say(POEM)], ...options });
  const afterCursor = messages.map(cursorOf).find((cursor) => cursor !== undefined)!;
  const again = await all(follow(world, 'cursor-only', { ...options, afterCursor }));
  expect(again[0]).toMatchObject({ type: 'system', subtype: 'init', seq: 0 });
});

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
