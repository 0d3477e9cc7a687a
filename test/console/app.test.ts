/** The gates in front of every route, without anything behind them. */
import { z } from 'zod';
import { parseConsole } from '../../authoring/index.js';
import { createApp } from '../../console/app.js';
import type { Desk } from '../../console/desk.js';
import { endpoint } from '../../console/http/endpoint.js';
import * as shapes from '../../console/http/shapes.js';
import type { Authenticator } from '../../console/identity/person.js';
import { digestOf, type Json } from '../../core/json/json.js';

const digest = endpoint({
  method: 'post',
  path: '/v1/digest',
  name: 'digest',
  summary: 'Of any value.',
  access: 'read',
  body: z.strictObject({ value: z.unknown() }),
  answers: {},
  async handle({ body }) {
    return { status: 200, body: { digest: digestOf(body.value as Json) } };
  },
});

function appWith(login: Authenticator, limits: object = {}) {
  const store = { appendAudit: async () => undefined };
  const desk = { store, settings: parseConsole({ limits }), clock: () => 0, say: () => undefined };
  const app = createApp({
    desk: desk as unknown as Desk,
    endpoints: [digest],
    logins: [login],
    version: 'test',
    signal: new AbortController().signal,
    page: () => undefined,
  });
  return async (body: string, token = 'x', remoteAddress = '192.0.2.1') =>
    await app.request(
      '/v1/digest',
      {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      },
      { incoming: { socket: { remoteAddress } } },
    );
}

const named =
  (tenant: string, id: string): Authenticator =>
  async () => ({ ok: true, person: { id, name: id, tenant, roles: ['r'], via: 'jwt' } });

test.each(['1e999', '[{"a":[-1e400]}]', '{"a":1e309}'])(
  'a number that no number can hold is refused: %s',
  async (value) => {
    const reply = await appWith(named('t', 'mia'))(`{"value":${value}}`);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ code: 'invalid' });
  },
);

test.each([' ', '\t', '\u00a0 ', 'r\u0000'])(
  'an id without a readable character is none: %j',
  (id) => {
    expect(shapes.id.safeParse(id).error?.issues).toMatchObject([
      { message: 'must be readable characters' },
    ]);
    expect(shapes.id.safeParse('run 1').success).toBe(true);
  },
);

test('a request that is no stream leaves nothing on the signal of the console', async () => {
  const any = jest.spyOn(AbortSignal, 'any');
  expect((await appWith(named('t', 'mia'))('{"value":1}')).status).toBe(200);
  expect(any).not.toHaveBeenCalled();
  any.mockRestore();
});

test('tokens of a stranger are not even looked at beyond the limit', async () => {
  const looked: string[] = [];
  const send = appWith(
    async ({ token }) => {
      looked.push(token);
      return { ok: false, why: 'bad' };
    },
    { failedLoginsPerMinute: 3 },
  );
  const replies = await Promise.all(Array.from({ length: 9 }, (_, n) => send('{}', `guess-${n}`)));
  const statuses = replies.map(({ status }) => status);
  expect(statuses.filter((one) => one === 401)).toHaveLength(3);
  expect(statuses.filter((one) => one === 429)).toHaveLength(6);
  expect(looked).toHaveLength(3);
});

test('whoever has a network of IPv6 has no more guesses than one address', async () => {
  const looked: string[] = [];
  const app = appWith(
    async ({ token }) => {
      looked.push(token);
      return { ok: false, why: 'bad' };
    },
    { failedLoginsPerMinute: 3 },
  );
  const replies = await Promise.all(
    Array.from({ length: 9 }, (_, n) => app('{}', `guess-${n}`, `2001:db8:1:2::${n}`)),
  );
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(6);
  expect(looked).toHaveLength(3);
  expect((await app('{}', 'guess', '2001:db8:1:3::1')).status).toBe(401);
});

test('nobody uses up what somebody else of another tenant may ask', async () => {
  const people = [named('a b', 'c'), named('a', 'b c')] as const;
  const send = appWith((request) => people[request.token === 'first' ? 0 : 1](request), {
    requestsPerMinute: 1,
  });
  expect((await send('{"value":1}', 'first')).status).toBe(200);
  expect((await send('{"value":1}', 'first')).status).toBe(429);
  expect((await send('{"value":1}', 'second')).status).toBe(200);
});

describe('fields that nobody knows', () => {
  const told = async (body: object) => {
    const reply = await appWith(named('t', 'mia'))(JSON.stringify(body));
    expect(reply.status).toBe(400);
    const { errors } = (await reply.json()) as { readonly errors: readonly { message: string }[] };
    return errors.map(({ message }) => message);
  };

  test('are named', async () => {
    expect(await told({ value: 1, amuont: 2 })).toEqual(['has unknown fields: "amuont"']);
  });

  test('are named in bounds, and no terminal obeys their names', async () => {
    const evil = 'a\u001B[2J\u202Eb\nc';
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`f${n}`, n]));
    const long = '\u{1F600}'.repeat(5_000);
    expect(await told({ value: 1, [evil]: 1, [`x${long}`]: 1, ...many })).toEqual([
      `has unknown fields: "a·[2J·b·c", "x${'\u{1F600}'.repeat(19)}·…", "f0" and 499 more`,
    ]);
  });
});
