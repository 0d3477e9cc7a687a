import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAnthropicProvider } from '../../providers/anthropic.js';
import { renderEvents } from '../../providers/scripted/render.js';
import type { ScriptedFailure, ScriptedMessage } from '../../providers/scripted/script.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { failureOf, requestOf, serving, stopAll } from './scripted-setup.js';

afterEach(stopAll);

interface Expected {
  readonly code: string;
  readonly retry: boolean;
  readonly billed: boolean;
}

const STATUSES: readonly (readonly [ScriptedFailure, Expected])[] = [
  [{ status: 400 }, { code: 'InvalidRequest', retry: false, billed: false }],
  [
    { status: 400, message: 'prompt is too long: 9 > 8' },
    { code: 'PromptTooLong', retry: false, billed: false },
  ],
  [
    { status: 400, message: 'input length and `max_tokens` exceed context limit: 9' },
    { code: 'PromptTooLong', retry: false, billed: false },
  ],
  [
    { status: 400, message: 'Output blocked by content filtering policy' },
    { code: 'ContentRefused', retry: false, billed: false },
  ],
  [
    { status: 400, message: 'Your credit balance is too low' },
    { code: 'AuthError', retry: false, billed: false },
  ],
  [{ status: 401 }, { code: 'AuthError', retry: false, billed: false }],
  [{ status: 402 }, { code: 'AuthError', retry: false, billed: false }],
  [{ status: 403 }, { code: 'AuthError', retry: false, billed: false }],
  [{ status: 404 }, { code: 'InvalidRequest', retry: false, billed: false }],
  [{ status: 408 }, { code: 'NetworkTimeout', retry: true, billed: true }],
  [
    { status: 409, errorType: 'conflict_error' },
    { code: 'RateLimited', retry: true, billed: false },
  ],
  [{ status: 413 }, { code: 'PromptTooLong', retry: false, billed: false }],
  [
    { status: 413, message: 'image exceeds 5 MB' },
    { code: 'InvalidRequest', retry: false, billed: false },
  ],
  [{ status: 422 }, { code: 'InvalidRequest', retry: false, billed: false }],
  [{ status: 429 }, { code: 'RateLimited', retry: true, billed: false }],
  [
    { status: 429, shouldRetry: false },
    { code: 'RateLimited', retry: false, billed: false },
  ],
  [
    { status: 429, errorCode: 'enforced_spend_limit_reached' },
    { code: 'RateLimited', retry: false, billed: false },
  ],
  [{ status: 500 }, { code: 'ServerError', retry: true, billed: false }],
  [
    { status: 502, errorType: 'bad_gateway' },
    { code: 'ServerError', retry: true, billed: true },
  ],
  [{ status: 503 }, { code: 'ServerError', retry: true, billed: false }],
  [
    { status: 504, errorType: 'timeout_error' },
    { code: 'ServerError', retry: true, billed: true },
  ],
  [{ status: 529 }, { code: 'Overloaded', retry: true, billed: false }],
];

describe('an error status', () => {
  test.each(STATUSES)('%j is told apart', async (failure, expected) => {
    const { ask, model } = await serving([{ headers: { 'request-id': 'req_1' }, ...failure }]);
    const { code, details } = await failureOf(ask());
    expect({ code, retry: details.shouldRetry, billed: details.receivedInput }).toEqual(expected);
    expect(details).toMatchObject({ status: failure.status, requestId: 'req_1' });
    // One retry layer only, and it is not here (G30).
    expect(model.requests()).toHaveLength(1);
  });

  test.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '1234', 'retry-after': '7' }, 1234],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '99999999999' }, 7 * 24 * 3600 * 1000],
  ])('with headers %j says how long to wait', async (headers, retryAfterMs) => {
    const { ask } = await serving([{ status: 429, headers }]);
    expect((await failureOf(ask())).details.retryAfterMs).toBe(retryAfterMs);
  });

  test('may give the time to wait for as a date', async () => {
    const at = new Date(Date.now() + 30_000).toUTCString();
    const { ask } = await serving([{ status: 429, headers: { 'retry-after': at } }]);
    const { retryAfterMs = 0 } = (await failureOf(ask())).details;
    expect(Math.abs(retryAfterMs - 30_000)).toBeLessThan(2000);
  });

  test('is followed by success when the caller asks again', async () => {
    const { ask } = await serving([[{ status: 429 }, { status: 529 }, { text: 'ok' }]]);
    expect((await failureOf(ask())).code).toBe('RateLimited');
    expect((await failureOf(ask())).code).toBe('Overloaded');
    expect((await ask()).blocks).toEqual([{ type: 'text', text: 'ok' }]);
  });
});

describe('a broken stream', () => {
  const message: ScriptedMessage = {
    thinking: 'Ünïcödé 思考',
    text: 'Grüße 👋',
    calls: [{ tool: 'pay', input: { to: '世界', cents: 5 } }],
    usage: { input: 40 },
  };

  // Each cut is a request: all of them with HOLDFAST_WHOLE=1.
  test('that is cut at any byte never brings a call', async () => {
    const { ask } = await serving([{ ...message, cutAfterBytes: 1 }]);
    expect((await failureOf(ask())).code).toBe('NetworkTimeout');
    const request = {
      ...requestOf(),
      assistantMessages: 0,
      runId: '',
      tools: [],
      attempt: 1,
      stream: true,
    };
    const scripted = { ...request, messages: [] };
    const bytes = Buffer.byteLength(
      renderEvents({ request: scripted, message, bodyBytes: 1 }).join(''),
    );
    const cuts = Array.from({ length: bytes - 2 }, (_, at) => ({ ...message, cutAfterBytes: at }));
    const chosen = WHOLE ? cuts : drawn(cuts, 50, SEED);
    saySeed(`a stream cut at ${chosen.length} of ${cuts.length} places`);
    const every = await serving([chosen]);
    for (const { cutAfterBytes } of chosen) {
      const failure = await failureOf(every.ask());
      expect([cutAfterBytes, failure.code]).toEqual([cutAfterBytes, 'NetworkTimeout']);
      expect(failure.details).toMatchObject({ shouldRetry: true, receivedInput: true });
    }
  });

  test('says how much output had arrived', async () => {
    const { ask } = await serving([{ text: 'x'.repeat(300), cutAfterChunks: 3 }]);
    expect((await failureOf(ask())).details.receivedOutputTokensEstimate).toBe(100);
  });

  test('with an error event fails as that error', async () => {
    const { ask } = await serving([{ text: 'x', errorEventAfterChunks: 2 }]);
    const { code, details } = await failureOf(ask());
    expect(code).toBe('Overloaded');
    expect(details).toMatchObject({ shouldRetry: true, receivedInput: true });
    const early = await serving([{ text: 'x', errorEventAfterChunks: 0, errorType: 'api_error' }]);
    const first = await failureOf(early.ask());
    expect([first.code, first.details.receivedInput]).toEqual(['ServerError', false]);
  });

  test.each(['silence', 'pings'] as const)('that stalls with %s is given up', async (stallWith) => {
    const stalling = { text: 'x', stallAfterChunks: 2, stallWith };
    const { ask } = await serving([stalling], { stallMs: 1_000, quietMs: 1_500 });
    const { code, message: said } = await failureOf(ask());
    expect(code).toBe('NetworkTimeout');
    expect(said).toContain(stallWith === 'silence' ? 'nothing arrived' : 'keep-alives');
  });

  test('does not stall while pings arrive and content follows in time', async () => {
    // Longer in all than the limit between two of them, by pauses of a tenth of that limit.
    const slow = { text: 'abcdefghijkl', chunks: 12, chunkDelayMs: 100 };
    const { ask } = await serving([slow], { stallMs: 1_000, quietMs: 1_000 });
    expect((await ask()).blocks).toEqual([{ type: 'text', text: 'abcdefghijkl' }]);
  });

  test('that never begins is given up', async () => {
    const { ask } = await serving([{ text: 'x', delayMs: 5000 }], { stallMs: 100 });
    const { code, details } = await failureOf(ask());
    expect([code, details.receivedInput]).toEqual(['NetworkTimeout', true]);
  });

  test.each([
    [
      'text instead of events',
      { garbage: '<html>busy</html>', contentType: 'text/html' },
      'MalformedReply',
    ],
    [
      'broken JSON',
      { garbage: 'event: message_start\ndata: {"type"\n\ndata: {}\n\n' },
      'MalformedReply',
    ],
    ['a JSON list', { garbage: 'data: []\n\ndata: {}\n\n' }, 'MalformedReply'],
    ['an empty body', { garbage: '' }, 'NetworkTimeout'],
    [
      'a clean end within an event',
      { garbage: 'data: {"type":"ping"}\n\ndata: {"ty' },
      'NetworkTimeout',
    ],
    [
      'an error as JSON',
      {
        garbage: '{"type":"error","error":{"type":"overloaded_error","message":"busy"}}',
        contentType: 'application/json',
      },
      'Overloaded',
    ],
  ])('with %s is not a reply', async (_, garbage, code) => {
    const { ask } = await serving([garbage]);
    expect((await failureOf(ask())).code).toBe(code);
  });
});

describe('a failing connection', () => {
  test('that was refused cost nothing', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const provider = createAnthropicProvider({ apiKey: 'k', baseUrl: `http://127.0.0.1:${port}` });
    const progress = { signal: new AbortController().signal, onProgress: () => undefined };
    const { code, details } = await failureOf(provider.complete(requestOf(), progress));
    expect(code).toBe('NetworkTimeout');
    expect(details).toMatchObject({ receivedInput: false, shouldRetry: true });
  });

  test.each([
    ['http://127.0.0.1:9', 'bad port'],
    ['ftp://127.0.0.1', 'unknown scheme'],
  ])('to %s is not even tried: it cost nothing, and says why', async (baseUrl, why) => {
    const provider = createAnthropicProvider({ apiKey: 'k', baseUrl });
    const progress = { signal: new AbortController().signal, onProgress: () => undefined };
    const { code, message, details } = await failureOf(provider.complete(requestOf(), progress));
    expect(code).toBe('NetworkTimeout');
    expect(message).toBe(`The connection to the model API failed: ${why}.`);
    expect(details).toMatchObject({ receivedInput: false, receivedOutputTokensEstimate: 0 });
  });

  test('that was cut before the headers may have cost the input', async () => {
    const server = createServer((request) => void request.socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const provider = createAnthropicProvider({ apiKey: 'k', baseUrl: `http://127.0.0.1:${port}` });
    const progress = { signal: new AbortController().signal, onProgress: () => undefined };
    const { code, details } = await failureOf(provider.complete(requestOf(), progress));
    expect([code, details.receivedInput]).toEqual(['NetworkTimeout', true]);
    await new Promise((resolve) => server.close(resolve));
  });
});
