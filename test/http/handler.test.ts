import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatHandler, nodeListener, type ChatHandlerOptions } from '../../http/index.js';
import { callerOf, fromElsewhere } from '../../http/caller.js';
import { chatOf, runIdOf } from '../../http/chat.js';
import { checkOptions } from '../../http/options.js';
import { places } from '../../http/places.js';
import type { UiChunk } from '../../http/projection/index.js';
import { saidIn } from '../../http/said.js';
import { streamResponse } from '../../http/sse.js';
import { Runs } from './runs.js';

const client = { follow: () => undefined } as unknown as ChatHandlerOptions['client'];
const insecure = { client, agent: 'desk', insecure: true } as const;
const authorize = () => ({ actor: { id: 'ann' } });
const LOCAL = 'http://localhost:3000/api/chat/c1/stream';

test('nothing is served before something says who asks', () => {
  expect(() => chatHandler({ client, agent: 'desk' })).toThrow('nothing says who asks');
  expect(() => chatHandler({ client, agent: 'desk', authorize, insecure: true })).toThrow(
    'do not go together',
  );
  expect(() => chatHandler({ client, agent: ' ', authorize })).toThrow('agent is no name');
  const limits = { streams: 0 };
  expect(() => chatHandler({ client, agent: 'desk', authorize, limits })).toThrow('limits.streams');
});

test.each<[string, unknown, string, RegExp]>([
  ['a field of the task', { metadata: {} }, 'metadata', /^The fields are budget, model, settings/],
  ['a limit a level too high', { maxTurns: 3 }, 'maxTurns', /^Write it into budget: /],
  ['a misspelt setting', { settings: { onBudgt: 'ask' } }, 'settings.onBudgt', /^Correct/],
  ['a limit that is none', { budget: { maxTurns: -1 } }, 'budget.maxTurns', /^Correct/],
  ['a model that is none', { model: 7 }, 'model cannot be used', /^Correct/],
  ['a text', 'fast', 'start is no object', /^Write start: \{ budget/],
])('a handler whose runs would begin with %s is not made', (_, start, what, next) => {
  const make = () => chatHandler({ ...insecure, start } as ChatHandlerOptions);
  expect(make).toThrow(what);
  expect(make).toThrow(
    expect.objectContaining({
      code: 'InvalidConfig',
      hint: expect.stringMatching(next) as string,
    }) as Error,
  );
});

test.each<[string, unknown, string, RegExp]>([
  ['nothing', undefined, 'takes an object of options, and got nothing', /^The options are client/],
  [
    'a misspelt option',
    { ...insecure, orgins: [] },
    'has no option orgins',
    /^Did you mean origins/,
  ],
  ['a word for a flag', { ...insecure, ownDecisions: 'no' }, 'ownDecisions', /^Correct/],
  ['a word for insecure', { ...insecure, insecure: 'no' }, 'insecure', /^Correct/],
  ['an unknown profile', { ...insecure, profile: 'v5' }, 'profile', /^Did you mean v6/],
  [
    'an origin with a path',
    { ...insecure, origins: ['https://a.example/'] },
    'origins',
    /^Correct/,
  ],
  ['a host for an origin', { ...insecure, origins: ['a.example'] }, 'origins', /^Correct/],
  ...[
    'https://*.a.example',
    'https://a.example:443',
    'http://a.example:80',
    'https://a.example?x',
    'https://a.example#x',
    'https://user@a.example',
    'https://bücher.example',
    'https://:80',
  ].map((origin): [string, unknown, string, RegExp] => [
    `the origin ${origin}, which no browser sends,`,
    { ...insecure, origins: [origin] },
    'each one by itself without *',
    /^Correct/,
  ]),
  ['a word for a listener', { ...insecure, say: 'loud' }, 'say', /^Correct/],
  ['limits that are none', { ...insecure, limits: 5 }, 'limits', /^Correct/],
  [
    'a misspelt limit',
    { ...insecure, limits: { strems: 5 } },
    'no option strems',
    /^Did you mean st/,
  ],
])('a handler of %s is not made', (_, options, what, next) => {
  expect(() => chatHandler(options as ChatHandlerOptions)).toThrow(
    expect.objectContaining({
      code: 'InvalidConfig',
      message: expect.stringContaining(what) as string,
      hint: expect.stringMatching(next) as string,
    }) as Error,
  );
});

test('a field of a message is refused with its place in the request', async () => {
  const message = { id: 5, role: 'user', parts: [] };
  const errors = [expect.objectContaining({ path: 'messages.1.id' }) as object];
  const refused = { facts: expect.objectContaining({ errors }) as object };
  const say = (request: unknown) => async () => saidIn(request);
  await expect(say({ id: 'c', messages: [{}, message] })()).rejects.toMatchObject(refused);
  await expect(say({ id: 5, messages: [] })()).rejects.toMatchObject({
    facts: { errors: [{ path: 'id' }] },
  });
});

test('a handler says what its runs may use, and under which settings', () => {
  const start = {
    budget: { maxCostUsd: 1 },
    model: 'anthropic/any',
    settings: { wrapUpTurn: true },
  };
  expect(() => chatHandler({ ...insecure, start })).not.toThrow();
});

test.each([
  ['another machine', new Request('http://192.0.2.7/api/chat/c1/stream')],
  ['a name that leads here', new Request('http://localhost.evil.example/api/chat/c1/stream')],
  ['a proxy', new Request(LOCAL, { headers: { 'x-forwarded-for': '192.0.2.7' } })],
  ['a proxy that names itself alone', new Request(LOCAL, { headers: { via: '1.1 proxy' } })],
  ['a page of another origin', new Request(LOCAL, { headers: { origin: 'http://evil.example' } })],
  ['a page without an origin', new Request(LOCAL, { headers: { 'sec-fetch-site': 'cross-site' } })],
])('an insecure handler refuses %s', async (_who, request) => {
  const response = await chatHandler(insecure)(request);
  expect(response.status).toBe(403);
});

test('an insecure handler takes this machine as one person', async () => {
  const who = await callerOf(checkOptions(insecure), new Request(LOCAL));
  expect(who).toEqual({ actor: { id: 'developer' } });
});

test('a connection from another machine is not this machine, whatever the request calls its host', async () => {
  const request = new Request(LOCAL);
  fromElsewhere.add(request);
  await expect(callerOf(checkOptions(insecure), request)).rejects.toThrow('this machine alone');
});

test('a stream that nobody reads is cut, and its place is free', async () => {
  async function* chunks(): AsyncGenerator<UiChunk, void, undefined> {
    for (;;) yield { type: 'start', messageId: 'm' };
  }
  const cut = new AbortController();
  const release = jest.fn();
  const of = {
    chunks: chunks(),
    cut: cut.signal,
    count: () => undefined,
    release,
    failed: () => undefined,
  };
  const response = streamResponse(of);
  cut.abort();
  expect(release).toHaveBeenCalledTimes(1);
  await expect(response.text()).rejects.toThrow('not read up to its end');
});

test.each(['before its answer comes', 'while nobody reads its answer'])(
  'a request that is left %s frees its place',
  async (when) => {
    const runs = new Runs();
    const limits = { streamsPerActor: 1 };
    const answer = chatHandler({ ...insecure, client: runs as never, limits });
    const ask = (id: string, signal?: AbortSignal) =>
      answer(
        new Request('http://localhost/api/chat', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            id: 'c1',
            messages: [{ id, role: 'user', parts: [{ type: 'text', text: 'Hello.' }] }],
          }),
          ...(signal !== undefined && { signal }),
        }),
      );
    const left = new AbortController();
    const first = ask('u1', left.signal);
    if (when.startsWith('while')) await first;
    left.abort();
    expect((await first).status).toBe(200);
    const second = await ask('u2');
    expect(second.status).toBe(200);
    await second.body?.cancel();
  },
);

test('pages of the own origin, and of those that are named, may ask', async () => {
  const options = checkOptions({
    client,
    agent: 'desk',
    authorize,
    // Of a frame in a sandbox.
    origins: ['https://shop.example', 'null'],
  });
  for (const origin of ['http://localhost:3000', 'https://shop.example', 'null']) {
    const headers = { origin, host: 'localhost:3000' };
    await expect(callerOf(options, new Request(LOCAL, { headers }))).resolves.toBeDefined();
  }
});

test('what nobody has set may be null', () => {
  const names = ['authorize', 'limits', 'origins', 'ownDecisions', 'profile', 'reasoning'];
  const unset = Object.fromEntries([...names, 'say', 'start'].map((name) => [name, null]));
  const options = { ...insecure, ...unset } as unknown as ChatHandlerOptions;
  expect(checkOptions(options).limits.streams).toBe(1_000);
  const given = { ...options, authorize, insecure: null } as unknown as ChatHandlerOptions;
  expect(checkOptions(given)).toMatchObject({ authorize, say: expect.any(Function) as unknown });
  const none = { ...options, insecure: null } as unknown as ChatHandlerOptions;
  expect(() => checkOptions(none)).toThrow('nothing says who asks');
});

test('an error of authorize, or nobody in its answer, is an error that tells nothing', async () => {
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  const throwing = (): never => {
    throw new Error('the password is hunter2');
  };
  for (const one of [throwing, () => ({ actor: { id: '' } })]) {
    const response = await chatHandler({ client, agent: 'desk', authorize: one, say })(
      new Request(LOCAL),
    );
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('hunter2');
  }
  expect(said).toHaveLength(2);
});

test('places are limited in all and for one person, and free again when they are left', () => {
  const two = places({ ...checkOptions(insecure).limits, streams: 2, streamsPerActor: 1 });
  const leave = two.take('ann');
  expect(() => two.take('ann')).toThrow('Too many streams');
  two.take('bob');
  expect(() => two.take('eve')).toThrow('Too many streams');
  leave();
  leave();
  two.take('ann');
  expect(() => two.take('eve')).toThrow('Too many streams');
});

describe('what a request says', () => {
  const HASH = 'b'.repeat(64);
  const answered = (id: string) => ({
    type: 'tool-pay',
    toolCallId: 'c1',
    state: 'approval-responded',
    approval: { id, approved: true, reason: 'fine' },
  });
  const by = (role: string, ...parts: readonly object[]) => ({ id: 'm1', role, parts });

  test('is the text of its last message', () => {
    const messages = [by('system', { type: 'text', text: 'Obey.' }), null, 7];
    const said = saidIn({
      id: 'c',
      messages: [...messages, by('user', { type: 'text', text: 'Hi.' })],
    });
    expect(said).toEqual({ chatId: 'c', message: { id: 'm1', text: 'Hi.' }, answers: [] });
  });

  test('is the approvals of an assistant’s message, each of the exact action', () => {
    const run = { type: 'data-holdfast-run', data: { runId: 'r', seq: 7, state: 'waiting' } };
    const parts = [
      answered(`run:c1#${HASH}`),
      answered('run:c1'),
      { ...answered(''), approval: null },
      run,
    ];
    expect(saidIn({ id: 'c', messages: [by('assistant', ...parts)] })).toEqual({
      chatId: 'c',
      answers: [{ askId: 'run:c1', argsHash: HASH, decision: 'approve', reason: 'fine' }],
      refused: ['run:c1', ''].map((askId) => ({
        askId,
        reason: 'unknown_ask',
        message: 'No question has this id.',
      })),
      seen: { runId: 'r', seq: 7 },
    });
  });

  test.each([
    ['a word as approved', { id: `run:c1#${HASH}`, approved: 'yes' }, 'run:c1'],
    [
      'a long reason',
      { id: `run:c1#${HASH}`, approved: true, reason: 'x'.repeat(2_001) },
      'run:c1',
    ],
  ])('is no approval with %s, and is told so', (_what, approval, askId) => {
    const part = { type: 'dynamic-tool', state: 'approval-responded', approval };
    expect(saidIn({ id: 'c', messages: [by('assistant', part)] })).toEqual({
      chatId: 'c',
      answers: [],
      refused: [
        {
          askId,
          reason: 'not_applicable',
          message: expect.stringContaining('approved is true or false') as unknown,
        },
      ],
    });
  });

  test('is first what it answers by itself, before approvals that the message has kept', () => {
    const kept = Array.from({ length: 32 }, (_, at) => answered(`run:c${at}#${HASH}`));
    const answers = [{ askId: 'run:new', argsHash: HASH, value: 'Blue.' }];
    const said = saidIn({ id: 'c', messages: [by('assistant', ...kept)], answers });
    expect(said.answers).toHaveLength(32);
    expect(said.answers[0]).toEqual(answers[0]);
  });

  test('of approvals in an older message nothing is heard', () => {
    const old = by('assistant', answered(`run:c1#${HASH}`));
    const said = saidIn({ id: 'c', messages: [old, by('user', { type: 'text', text: 'Hi.' })] });
    expect(said.answers).toEqual([]);
  });

  test.each([
    [by('system'), 'The last message has the role "system".', 'role user'],
    [
      by('user', { type: 'text', text: 'a\ud800' }),
      'The text of the message has half of a surrogate pair.',
      'without this character',
    ],
    [
      by('user', { type: 'text', text: 'a\0' }),
      'The text of the message has the character NUL.',
      'without this character',
    ],
  ])('cannot be used, and it is told in words of a chat: %j', (message, detail, hint) => {
    const facts = { detail, hint: expect.stringContaining(hint) as unknown };
    const problem: unknown = (() => {
      try {
        return saidIn({ id: 'c', messages: [message] });
      } catch (error) {
        return error;
      }
    })();
    expect(problem).toMatchObject({ status: 400, facts });
  });

  test('is too long with the limit of a message, and no field of a task', () => {
    const say = (chars: number) =>
      saidIn({ id: 'c', messages: [by('user', { type: 'text', text: 'x'.repeat(chars) })] });
    expect(say(200_000).message?.text).toHaveLength(200_000);
    expect(() => say(200_001)).toThrow('Send at most 200000 characters: the message has 200001.');
  });

  test.each([
    ['nothing', null],
    ['a list', []],
    ['no last message', { id: 'c', messages: [7] }],
    ['a message of nobody', { id: 'c', messages: [by('system')] }],
    ['a message without words', { id: 'c', messages: [by('user', { type: 'text', text: ' ' })] }],
    ['a file', { id: 'c', messages: [by('user', { type: 'file', url: 'x' })] }],
    ['too many answers', { id: 'c', answers: Array(33).fill({ askId: 'a', argsHash: HASH }) }],
    ['an answer without a hash', { id: 'c', answers: [{ askId: 'a', argsHash: '' }] }],
  ])('%s is refused', (_what, body) => {
    expect(() => saidIn(body)).toThrow();
  });
});

describe('behind a server of Node', () => {
  const served = async (
    listener: http.RequestListener,
    use: (address: string) => Promise<void>,
  ): Promise<void> => {
    const server = http.createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };
  const post = (signal?: AbortSignal): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 'c1',
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello.' }] }],
    }),
    ...(signal !== undefined && { signal }),
  });

  test('a page that is closed is no error of the server', async () => {
    const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const left = new AbortController();
    const closed: Promise<unknown>[] = [];
    // A run that goes on.
    const followTree = async function* () {
      yield await new Promise<object>(() => undefined);
    };
    const client = Object.assign(new Runs(), { followTree });
    const listen = nodeListener(chatHandler({ ...insecure, client: client as never }));
    await served(
      (incoming, outgoing) => {
        closed.push(once(outgoing, 'close'));
        void listen(incoming, outgoing);
      },
      async (address) => {
        const { body } = await fetch(address, post(left.signal));
        await body?.getReader().read();
        left.abort();
        await Promise.all(closed);
        await new Promise(setImmediate);
      },
    );
    expect(printed.mock.calls).toEqual([]);
    printed.mockRestore();
  });

  test('an approval that is none is told in the message that goes on', async () => {
    const options = { ...insecure, client: new Runs() as never };
    const chat = chatOf(checkOptions(options), { actor: { id: 'developer' } }, 'c1');
    const runId = runIdOf(chat, 'u1');
    const listen = nodeListener(chatHandler(options));
    const parts = [
      { type: 'data-holdfast-run', data: { runId, seq: 3 } },
      { type: 'tool-pay', state: 'approval-responded', approval: { id: 'a1', approved: true } },
    ];
    const body = JSON.stringify({ id: 'c1', messages: [{ id: 'm', role: 'assistant', parts }] });
    await served(
      (incoming, outgoing) => void listen(incoming, outgoing),
      async (address) => {
        const response = await fetch(address, { ...post(), body });
        expect(await response.text()).toContain(
          '{"type":"data-holdfast-refused","id":"a1","data":{"askId":"a1","reason":"unknown_ask"',
        );
      },
    );
  });

  test('a client that wants the connection closed after a stream has it closed', async () => {
    const listen = nodeListener(chatHandler({ ...insecure, client: new Runs() as never }));
    await served(
      (incoming, outgoing) => void listen(incoming, outgoing),
      async (address) => {
        const response = await fetch(address, post());
        expect(response.headers.get('connection')).toBe('keep-alive');
        await response.text();
        const headers = { 'content-type': 'application/json', connection: 'close' };
        const asked = http.request(address, { method: 'POST', agent: false, headers });
        asked.end(post().body);
        const [closing] = (await once(asked, 'response')) as [http.IncomingMessage];
        expect(closing.headers.connection).toBe('close');
        closing.resume();
        await once(closing, 'close');
      },
    );
  });

  test('a body that something has read before is told', async () => {
    const listen = nodeListener(chatHandler({ ...insecure, client: new Runs() as never }));
    await served(
      (incoming, outgoing) => {
        incoming.resume().once('end', () => void listen(incoming, outgoing));
      },
      async (address) => {
        const response = await fetch(address, post());
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          detail: 'The body is empty.',
          hint: expect.stringContaining('before what reads bodies') as unknown,
        });
      },
    );
  });
});
