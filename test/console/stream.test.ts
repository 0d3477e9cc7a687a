/** Event streams end in time, also when nothing happens, and tell nothing after their end. */
import { z } from 'zod';
import { parseConsole } from '../../authoring/index.js';
import { createApp } from '../../console/app.js';
import type { Desk } from '../../console/desk.js';
import { endpoint, type StreamEntry } from '../../console/http/endpoint.js';
import { streamResponse } from '../../console/http/stream.js';

const QUARTER_OF_AN_HOUR = 900_000;

/** Entries that a test gives one by one; like a run's events, it ends when its signal does. */
function source(signal: AbortSignal) {
  const waiting: ((entry: StreamEntry | undefined) => void)[] = [];
  signal.addEventListener('abort', () => waiting.shift()?.(undefined));
  let returned = false;
  async function* entries(): AsyncGenerator<StreamEntry, void, undefined> {
    try {
      for (;;) {
        const entry = await new Promise<StreamEntry | undefined>((resolve) => {
          waiting.push(resolve);
        });
        if (entry === undefined) return;
        yield entry;
      }
    } finally {
      returned = true;
    }
  }
  return {
    entries: entries(),
    give: (name: string) => waiting.shift()?.({ event: name, data: {} }),
    isOver: () => returned,
  };
}

function open(loginMs?: number) {
  const ending = new AbortController();
  const released: string[] = [];
  const from = source(ending.signal);
  const response = streamResponse(from.entries, {
    signal: ending.signal,
    stop: () => ending.abort(),
    ...(loginMs !== undefined && { loginMs }),
    release: () => void released.push('released'),
    say: (line) => void released.push(line),
  });
  let text = '';
  const whole = (async () => {
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(part).toString('utf8');
    }
    return text;
  })();
  return { ending, from, released, whole, text: () => text };
}

describe('a stream', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test.each([
    ['after a quarter of an hour', undefined, QUARTER_OF_AN_HOUR],
    ['with the login', 5_000, 5_000],
    ['after a quarter of an hour, however long the login', 2 ** 40, QUARTER_OF_AN_HOUR],
  ])('in which nothing happens ends %s', async (_when, loginMs, after) => {
    const { from, released, whole } = open(loginMs);
    await jest.advanceTimersByTimeAsync(after - 1);
    expect(released).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    await whole;
    expect(released).toEqual(['released']);
    expect(from.isOver()).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('tells what happens before its end and nothing that happens after it', async () => {
    const { from, whole, text } = open(5_000);
    await jest.advanceTimersByTimeAsync(1_000);
    from.give('early');
    await jest.advanceTimersByTimeAsync(3_999);
    expect(text()).toContain('early');
    // What comes at the very moment of the end comes too late.
    jest.advanceTimersByTime(1);
    from.give('late');
    expect(await whole).not.toContain('late');
  });

  test('of a console that ends is closed once, and gives its place back once', async () => {
    const { ending, released, whole } = open();
    await jest.advanceTimersByTimeAsync(0);
    ending.abort();
    ending.abort();
    await whole;
    expect(released).toEqual(['released']);
  });
});

test('an open stream ends with the token that opened it', async () => {
  let signal: AbortSignal | undefined;
  const silent = endpoint({
    method: 'get',
    path: '/v1/silent',
    name: 'silent',
    summary: 'Nothing.',
    access: 'read',
    query: z.strictObject({}),
    answers: {},
    async handle(asked) {
      signal = asked.signal;
      return { stream: source(asked.signal).entries };
    },
  });
  const person = { id: 'mia', name: 'Mia', tenant: 'default', roles: ['r'], via: 'jwt' } as const;
  const desk = { settings: parseConsole({}), clock: () => 1_000, say: () => undefined };
  const app = createApp({
    desk: desk as unknown as Desk,
    endpoints: [silent],
    logins: [async () => ({ ok: true, person, until: 1_050 })],
    version: 'test',
    signal: new AbortController().signal,
    page: () => undefined,
  });
  const response = await app.request('/v1/silent', { headers: { authorization: 'Bearer x' } });
  expect(await response.text()).toBe('retry: 1000\n\n');
  expect(signal?.aborted).toBe(true);
});
