/** Logins of connectors by operators, also against servers that mean harm, and the tokens that workers share. */
import { randomBytes } from 'node:crypto';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { AuthorizationCode } from '../../authoring/connector-auth.js';
import { createConnectors, pinnedTool } from '../../connectors/index.js';
import {
  endLogin,
  KEYS_VARIABLE,
  logout,
  openLogin,
  type LoginAnswer,
} from '../../connectors/logins.js';
import type { TokenRows } from '../../connectors/oauth/stored-authorization.js';
import { openStore, type Store } from '../../store/store.js';
import {
  CLIENT_SECRET,
  startProtectedServer,
  type Misbehaviour,
  type ProtectedServer,
} from './hostile-authorization.js';

const REDIRECT_URL = 'http://127.0.0.1:3917/callback';
const KEY = (): string => randomBytes(32).toString('base64');
const SECRETS = ['access-token-', 'refresh-token-', 'authorization-code-', CLIENT_SECRET];
const ends: (() => Promise<void> | void)[] = [];
let server: ProtectedServer;
let store: Store;
let now: number;

beforeEach(async () => {
  now = 1_000_000;
  process.env[KEYS_VARIABLE] = `k1:${KEY()}`;
  server = await startProtectedServer();
  store = await openStore({ file: ':memory:' });
  ends.push(() => server.stop());
  ends.push(() => store.close());
});
afterEach(async () => {
  delete process.env[KEYS_VARIABLE];
  for (const end of ends.splice(0).toReversed()) await end();
});

function place(over: Partial<AuthorizationCode> = {}, url = server.url, tenant = 'default') {
  const { connectors } = defineConfig({
    agents: [defineAgent({ name: 'a', model: 's/m', instructions: 'Help.', mcp: ['crm'] })],
    mcp: {
      crm: {
        url,
        trust: 'trusted',
        connectTimeoutMs: 5_000,
        auth: { grant: 'authorization_code', ...over },
      },
    },
  });
  return { connectors, connector: connectors.get('crm')!, tenant, store, clock: () => now };
}

/** A worker of its own. */
function worker(at = place(), tokens: TokenRows = store) {
  const connectors = createConnectors({ ...at, tokens });
  ends.push(() => connectors.close());
  const signal = AbortSignal.timeout(20_000);
  const { tenant } = at;
  return async (): Promise<unknown> => {
    const { definitions } = await connectors.list('crm', signal, tenant);
    const tool = await connectors.tool(pinnedTool(at.connector, definitions[0]!)!, tenant);
    const ids = { runId: 'r', callId: 'c', idempotencyKey: 'k', attempt: 1, traceId: 't' };
    const rest = { tenant, signal, cost: () => undefined, sandbox: undefined as never };
    return tool.run({}, { ...ids, ...rest });
  };
}

async function visit(address: string): Promise<LoginAnswer> {
  const { headers } = await fetch(address, { redirect: 'manual' });
  return Object.fromEntries(new URL(headers.get('location')!).searchParams);
}

async function logIn(at = place()) {
  const { address, pending } = await openLogin(at, REDIRECT_URL);
  const answer = await visit(address);
  return {
    address: new URL(address),
    loggedIn: await endLogin(at, pending, { answer, by: 'mia' }),
  };
}

const row = () => store.connectorToken({ tenant: 'default', connector: 'crm' });
const refused = (work: () => Promise<unknown>): Promise<Error> =>
  work().then(
    () => Promise.reject(new Error('Nothing was refused.')),
    (error: Error) => error,
  );

test('before a login each call says who has to do what, and after it the workers use one token', async () => {
  const [one, other] = [worker(), worker()];
  expect(await refused(one)).toMatchObject({
    code: 'tool_unavailable',
    message:
      'The connector crm needs a login: nobody has logged in. An operator logs in with `holdfast mcp login crm` or at the desk.',
  });
  expect(await row()).toMatchObject({ state: 'needs_login', wanted: { scope: 'contacts' } });
  const { address, loggedIn } = await logIn();
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    scope: 'contacts',
    resource: server.url,
    code_challenge_method: 'S256',
    redirect_uri: REDIRECT_URL,
  });
  expect(loggedIn).toEqual({
    connector: 'crm',
    issuer: server.issuer,
    scope: 'contacts',
    until: now + 3_600_000,
    renews: true,
  });
  expect(await Promise.all([one(), other()])).toEqual(['done', 'done']);
  expect(server.asked).toHaveLength(1);
  expect(await store.readAudit('default', { limit: 10 })).toMatchObject([
    {
      kind: 'connector_login',
      by: 'mia',
      facts: { connector: 'crm', issuer: server.issuer, scope: 'contacts' },
    },
  ]);
});

test('of many workers one gets the next token, of a refresh token that counts once', async () => {
  await logIn();
  const workers = [worker(), worker(), worker(), worker()];
  await Promise.all(workers.map((call) => call()));
  server.misbehave({ slow: () => new Promise((end) => setTimeout(end, 50)) });
  now += 3_600_000;
  const results = await Promise.all(workers.map((call) => call()));
  expect(results).toEqual(['done', 'done', 'done', 'done']);
  expect(server.asked.map(({ form }) => form.get('grant_type'))).toEqual([
    'authorization_code',
    'refresh_token',
  ]);
  expect(await row()).toMatchObject({ state: 'ready', version: expect.any(Number) });
});

test('of workers whose clocks are apart one gets the next token as well', async () => {
  await logIn();
  const rows = { ...store, claimClock: () => Promise.resolve(now) };
  const clocks = [0, 600_000, -600_000].map((ahead) => () => now + ahead);
  const workers = clocks.map((clock) => worker({ ...place(), clock }, rows));
  await Promise.all(workers.map((call) => call()));
  server.misbehave({ slow: () => new Promise((end) => setTimeout(end, 300)) });
  server.revoke();
  const results = await Promise.all(workers.map((call) => call()));
  expect(results).toEqual(['done', 'done', 'done']);
  expect(server.asked).toHaveLength(2);
});

test('the next token is kept, though the store is away for a moment when it comes', async () => {
  await logIn();
  let away = 2;
  const rows: TokenRows = {
    ...store,
    renewConnectorToken: (held) =>
      (away -= 1) >= 0 ? Promise.reject(new Error('away')) : store.renewConnectorToken(held),
  };
  const call = worker(place(), rows);
  await call();
  server.revoke();
  expect(await call()).toBe('done');
  expect(await worker()()).toBe('done');
  expect(server.asked).toHaveLength(2);
});

test('a token that the server refuses is renewed, and a login that has ended is asked for again', async () => {
  const call = worker();
  await logIn();
  await call();
  server.revoke();
  expect(await call()).toBe('done');
  expect(server.asked).toHaveLength(2);
  server.revoke();
  server.endLogins();
  expect((await refused(call)).message).toContain('its last login counts no more');
  expect(await row()).toMatchObject({ state: 'needs_login', wanted: { scope: 'contacts' } });
  const asked = server.asked.length;
  await refused(call);
  expect(server.asked).toHaveLength(asked);
  await logIn();
  expect(await call()).toBe('done');
});

test('a call that needs another scope waits for a login with both scopes, and others go on', async () => {
  await logIn();
  const call = worker();
  server.misbehave({ wants: 'contacts.write' });
  expect((await refused(call)).message).toContain(
    'the server wants the scopes contacts contacts.write',
  );
  expect(server.calls).toEqual([]);
  expect(await row()).toMatchObject({
    state: 'needs_scope',
    wanted: { scope: 'contacts contacts.write' },
  });
  const { address } = await logIn();
  expect(address.searchParams.get('scope')).toBe('contacts contacts.write');
  expect(await call()).toBe('done');
  expect(await row()).toMatchObject({ state: 'ready', wanted: {} });
});

test('after a logout no worker uses the token, and the server has taken both back', async () => {
  await logIn();
  const call = worker();
  await call();
  expect(await logout(place(), 'mia')).toEqual({ was: true, revoked: true });
  expect(server.returned).toEqual(['refresh-token-1', 'access-token-1']);
  expect((await refused(call)).message).toContain('nobody has logged in');
  expect(server.calls).toHaveLength(1);
  expect(await logout(place(), 'mia')).toEqual({ was: false });
});

test('after a logout and another login a worker uses the new token, which a look at another address leaves alone', async () => {
  await logIn();
  const call = worker();
  await call();
  await logout(place(), 'mia');
  now += 1_000;
  await logIn();
  await refused(worker(place({}, `${server.url}?to=other`)));
  expect(await call()).toBe('done');
  const [first, second] = server.calls;
  expect(second).toMatch(/^access-token-/);
  expect(second).not.toBe(first);
});

test('a token of another issuer than the configuration names is not used, and its client is told nothing', async () => {
  await logIn();
  const other = place({ issuer: 'https://login.example' });
  expect((await refused(worker(other))).message).toContain('of another issuer');
  expect(server.calls).toEqual([]);
  expect(await logout(other, 'mia')).toEqual({ was: true, revoked: false });
  expect(server.returned).toEqual([]);
});

test('a token is of one tenant and one address', async () => {
  await logIn();
  expect(await refused(worker(place({}, server.url, 'acme')))).toMatchObject({
    code: 'tool_unavailable',
  });
  expect(await refused(worker(place({}, `${server.url}?to=other`)))).toMatchObject({
    code: 'tool_unavailable',
  });
  expect(server.calls).toEqual([]);
});

test('a key is exchanged while workers go on, and without the key of a token nobody uses it', async () => {
  await logIn();
  const first = process.env[KEYS_VARIABLE]!;
  process.env[KEYS_VARIABLE] = `k2:${KEY()},${first}`;
  expect(await worker()()).toBe('done');
  expect((await row())?.token?.keyId).toBe('k2');
  process.env[KEYS_VARIABLE] = first;
  expect((await refused(worker())).message).toMatch(/lacks the key that its token was encrypted/);
  process.env[KEYS_VARIABLE] = `k2:${KEY()}`;
  expect((await refused(worker())).message).toMatch(/was altered/);
});

test('a configured client sends its secret to the declared issuer alone', async () => {
  process.env['CRM_SECRET'] = 'configured-secret';
  ends.push(() => void delete process.env['CRM_SECRET']);
  const auth = { clientId: 'known', clientSecret: { env: 'CRM_SECRET' } };
  expect(() => place(auth)).toThrow(/mcp\.crm\.auth\.clientSecret/);
  await logIn(place({ ...auth, issuer: server.issuer }));
  expect(server.registered).toEqual([]);
  const basic = Buffer.from('known:configured-secret').toString('base64');
  expect(server.asked[0]?.authorization).toBe(`Basic ${basic}`);
  await expect(logIn(place({ ...auth, issuer: 'https://auth.example.com' }))).rejects.toMatchObject(
    {
      code: 'AuthError',
      message: expect.stringContaining('another issuer than the configuration') as string,
    },
  );
});

test('a worker whose client secret is refused ends the login of no other worker', async () => {
  process.env['CRM_SECRET'] = 'configured-secret';
  ends.push(() => void delete process.env['CRM_SECRET']);
  const clientSecret = { env: 'CRM_SECRET' };
  const at = place({ clientId: 'known', clientSecret, issuer: server.issuer });
  await logIn(at);
  const [wrong, right] = [worker(at), worker(at)];
  await Promise.all([wrong(), right()]);
  server.revoke();
  for (const error of ['invalid_client', 'unauthorized_client']) {
    server.misbehave({
      answer: (_, response) => void response.writeHead(401).end(JSON.stringify({ error })),
    });
    expect((await refused(wrong)).message).toContain(`its authorization server says ${error}`);
  }
  expect(await row()).toMatchObject({ state: 'ready' });
  server.misbehave({});
  expect([await right(), await wrong()]).toEqual(['done', 'done']);
});

test('without keys nobody is sent anywhere', async () => {
  delete process.env[KEYS_VARIABLE];
  await expect(logIn()).rejects.toMatchObject({ code: 'InvalidConfig' });
  process.env[KEYS_VARIABLE] = 'k1:short';
  await expect(logIn()).rejects.toMatchObject({ code: 'InvalidConfig' });
  expect(server.registered).toEqual([]);
});

const ODD: { readonly [name: string]: readonly [how: Misbehaviour, why: RegExp] } = {
  'says another issuer in its answer': [
    { sentBackWith: { iss: 'https://evil.example.com' } },
    /another issuer/,
  ],
  'answers another login': [{ sentBackWith: { state: 'guessed' } }, /another login/],
  'refuses the person': [{ sentBackWith: { error: 'access_denied' } }, /says access_denied/],
  'refuses in its own words': [{ sentBackWith: { error: 'access-token-1' } }, /says no\./],
  'offers no PKCE': [{ metadata: { code_challenge_methods_supported: undefined } }, /PKCE/],
  'sends people in the clear': [
    { metadata: { authorization_endpoint: 'http://auth.example.com/a' } },
    /nobody is to visit/,
  ],
  'takes codes in the clear': [
    { metadata: { token_endpoint: 'http://auth.example.com/token' } },
    /cannot be used|not to be asked/,
  ],
  'is another than it says': [{ metadata: { issuer: 'https://evil.example.com' } }, /issuer/],
  'gives tokens for another server': [
    { resource: { resource: 'https://evil.example.com/mcp' } },
    /for another server/,
  ],
  'registers nobody': [{ metadata: { registration_endpoint: undefined } }, /clientId/],
  'gives tokens of another kind': [
    {
      answer: (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ access_token: 'access-token-1', token_type: 'DPoP' }));
      },
    },
    /no bearer token/,
  ],
  'echoes what it was sent': [
    {
      answer: ({ form, authorization }, response) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        const error_description = `${form.toString()} ${authorization}`;
        response.end(JSON.stringify({ error: 'invalid_grant', error_description }));
      },
    },
    /says invalid_grant/,
  ],
};

test.each(Object.entries(ODD))(
  'a server that %s logs nobody in, and its words stay out of the error',
  async (_, [how, why]) => {
    server.misbehave(how);
    const error = await refused(() => logIn());
    expect(error).toMatchObject({ code: 'AuthError' });
    expect(error.message).toMatch(why);
    const told = JSON.stringify([error.message, error.stack, String(error.cause)]);
    for (const secret of SECRETS) expect(told).not.toContain(secret);
    expect((await row())?.token).toBeUndefined();
  },
);

test('a server of another machine leads to no address of this one', async () => {
  const at = place({}, 'https://crm.example.com/mcp');
  const fetching = jest.spyOn(globalThis, 'fetch').mockImplementation((url) =>
    Promise.resolve(
      addressOf(url).origin === 'https://crm.example.com'
        ? Response.json({
            resource: 'https://crm.example.com/mcp',
            authorization_servers: [server.issuer],
          })
        : new Response(null, { status: 500 }),
    ),
  );
  try {
    expect((await refused(() => openLogin(at, REDIRECT_URL))).message).toContain(
      'an address that is not to be asked',
    );
    const visited = fetching.mock.calls.map(([url]) => addressOf(url).hostname);
    expect(new Set(visited)).toEqual(new Set(['crm.example.com']));
  } finally {
    fetching.mockRestore();
  }
});

function addressOf(asked: Parameters<typeof fetch>[0]): URL {
  return new URL(asked instanceof Request ? asked.url : asked);
}
