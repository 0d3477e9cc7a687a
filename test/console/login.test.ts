/** Logging in: every token that is not exactly right is nobody's. */
import { createHash } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { parseConsole, type ConsoleDefinition } from '../../authoring/index.js';
import { authenticate } from '../../console/identity/authenticate.js';
import { jwtLogin } from '../../console/identity/jwt.js';
import { localLogin } from '../../console/identity/local.js';
import { readServiceTokens, serviceLogin } from '../../console/identity/service-tokens.js';
import type { Authenticator } from '../../console/identity/person.js';
import { strangersAt } from '../../console/identity/strangers.js';
import { rateLimit } from '../../console/http/rate.js';
import { checkStart } from '../../client/runs/check-start.js';
import { taskDefect } from '../../pure/task-schema.js';

const ISSUER = 'https://login.example.org/';
const AUDIENCE = 'holdfast';

async function keyPair(kid: string) {
  const pair = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(pair.publicKey)), kid, alg: 'ES256', use: 'sig' };
  return { ...pair, kid, jwk };
}

let pair: Awaited<ReturnType<typeof keyPair>>;
let server: Server;
let jwksUrl: string;

beforeAll(async () => {
  pair = await keyPair('k1');
  server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys: [pair.jwk] }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function settings(more: Partial<ConsoleDefinition['jwt']> = {}, roles?: Record<string, string[]>) {
  const jwt = { issuer: ISSUER, audience: AUDIENCE, jwksUrl, ...more };
  return parseConsole({ jwt, ...(roles !== undefined && { roles }) });
}

const login = (token: string, ways: readonly Authenticator[], headers: object = {}) =>
  authenticate(
    new Request('http://desk/v1/me', { headers: { authorization: `Bearer ${token}`, ...headers } }),
    ways,
  );

function ways(more: Partial<ConsoleDefinition['jwt']> = {}, roles?: Record<string, string[]>) {
  const parsed = settings(more, roles);
  return [jwtLogin(parsed.jwt!, parsed.roles)];
}

const CLAIMS: JWTPayload = { sub: 'mia', name: 'Mia', roles: ['manager', 'clerk'] };

function signed(
  claims: JWTPayload = CLAIMS,
  over: Partial<Record<'iss' | 'aud' | 'exp', string>> = {},
) {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid: pair.kid })
    .setIssuer(over.iss ?? ISSUER)
    .setAudience(over.aud ?? AUDIENCE)
    .setExpirationTime(over.exp ?? '5 minutes')
    .sign(pair.privateKey);
}

describe('a token of the identity provider', () => {
  test('becomes the person that its claims name', async () => {
    expect(await login(await signed(), ways())).toEqual({
      ok: true,
      until: expect.any(Number),
      person: {
        id: 'mia',
        name: 'Mia',
        tenant: 'default',
        roles: ['manager', 'clerk'],
        via: 'jwt',
      },
    });
  });

  test('claims are found by configuration, and roles get the names that they have here', async () => {
    const claims = {
      email: 'mia@example.org',
      'https://example.org/roles': 'grp-fin grp-other',
      org: { id: 'acme' },
    };
    const found = { person: 'email', roles: 'https://example.org/roles', tenant: 'org.id' };
    const over = ways({ claims: found }, { 'grp-fin': ['finance', 'manager'] });
    expect(await login(await signed(claims), over)).toMatchObject({
      person: { id: 'mia@example.org', tenant: 'acme', roles: ['finance', 'manager'] },
    });
  });

  const hostile: readonly (readonly [string, () => Promise<string>])[] = [
    ['of another issuer', () => signed(CLAIMS, { iss: 'https://evil.example.org/' })],
    ['for another audience', () => signed(CLAIMS, { aud: 'other' })],
    ['that has expired', () => signed(CLAIMS, { exp: '-1 minute' })],
    ['without a person', () => signed({ roles: ['manager'] })],
    ['with a person that hides something', () => signed({ ...CLAIMS, sub: 'mia\u202e' })],
    [
      'without an expiry',
      () =>
        new SignJWT(CLAIMS)
          .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
          .setIssuer(ISSUER)
          .setAudience(AUDIENCE)
          .sign(pair.privateKey),
    ],
    [
      'without a signature',
      async () =>
        new UnsecuredJWT(CLAIMS)
          .setIssuer(ISSUER)
          .setAudience(AUDIENCE)
          .setExpirationTime('1h')
          .encode(),
    ],
    [
      'signed with the public key as a secret',
      () =>
        new SignJWT(CLAIMS)
          .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
          .setIssuer(ISSUER)
          .setAudience(AUDIENCE)
          .setExpirationTime('1h')
          .sign(new TextEncoder().encode(JSON.stringify(pair.jwk).padEnd(64))),
    ],
    [
      'signed with another key under the same id',
      async () => {
        const other = await keyPair('k1');
        return new SignJWT(CLAIMS)
          .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
          .setIssuer(ISSUER)
          .setAudience(AUDIENCE)
          .setExpirationTime('1h')
          .sign(other.privateKey);
      },
    ],
    [
      'whose claims were changed',
      async () => {
        const [head, , proof] = (await signed()).split('.');
        const claims = { ...CLAIMS, sub: 'eve', iss: ISSUER, aud: AUDIENCE, exp: 2 ** 33 };
        return [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), proof].join('.');
      },
    ],
  ];
  test.each(hostile)('%s is nobody', async (_what, make) => {
    expect(await login(await make(), ways())).toMatchObject({ ok: false });
  });

  test.each(['service:billing', 'Service:billing'])('cannot say that it is %s', async (sub) => {
    expect(await login(await signed({ ...CLAIMS, sub }), ways())).toMatchObject({ ok: false });
  });

  test('cannot say that its tenant is all tenants, and neither can anybody else', async () => {
    const claims = { tenant: 'org' };
    const all = await signed({ ...CLAIMS, org: '*' });
    expect(await login(all, ways({ claims }))).toMatchObject({ ok: false });
    const local = localLogin([]);
    const headers = { 'holdfast-tenant': '*' };
    expect(await login(local.token, [local.authenticate], headers)).toMatchObject({ ok: false });
    expect(() => settings({ tenant: '*' })).toThrow('console.jwt.tenant');
  });

  test('is one person, however its letters are put together, and the one that started a run', async () => {
    const [composed, apart] = ['jos\u00e9', 'jose\u0301'];
    const ids = [composed, apart].map(async (sub) => {
      const found = await login(await signed({ ...CLAIMS, sub }), ways());
      return found.ok ? found.person.id : found.why;
    });
    expect(await Promise.all(ids)).toEqual([composed, composed]);
    const start = checkStart({ agent: 'desk', task: { goal: 'Serve.', caller: apart } });
    expect(start.task.caller).toBe(composed);
    // Who goes past the client is refused by the worker.
    expect(taskDefect({ goal: 'Serve.', caller: apart }, 'ignored')).toMatchObject({
      path: 'task.caller',
    });
  });

  test('of somebody in many groups has the roles of those that have names here', async () => {
    const groups = Array.from({ length: 200 }, (_, index) => `grp-${index}`);
    const over = ways({}, { 'grp-199': ['finance'] });
    expect(await login(await signed({ ...CLAIMS, roles: groups }), over)).toMatchObject({
      person: { roles: ['finance'] },
    });
    expect(await login(await signed({ ...CLAIMS, roles: groups }), ways())).toMatchObject({
      person: { roles: groups.slice(0, 30) },
    });
  });

  test.each([
    ['are not there', 'http://127.0.0.1:9/keys'],
    ['are no keys', undefined],
  ])('is not called bad when the keys %s', async (_what, place) => {
    const other = createServer((_request, response) => response.end('<html>down</html>'));
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve);
    });
    const url = place ?? `http://127.0.0.1:${(other.address() as AddressInfo).port}/keys`;
    await expect(login(await signed(), ways({ jwksUrl: url }))).rejects.toMatchObject({
      status: 503,
    });
    other.closeAllConnections();
    other.close();
  });

  test('with a tenant claim that is missing belongs nowhere', async () => {
    expect(await login(await signed(), ways({ claims: { tenant: 'org' } }))).toMatchObject({
      ok: false,
    });
  });

  test('roles that are not named are none, also those of a prototype', async () => {
    const claims = { ...CLAIMS, roles: ['constructor', '__proto__', 'clerk'] };
    const over = ways({}, { manager: ['manager'] });
    expect(await login(await signed(claims), over)).toMatchObject({ person: { roles: [] } });
  });
});

describe('a service token', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-login-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'tokens.json');
  const digest = (token: string): string => createHash('sha256').update(token).digest('hex');
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  const write = (tokens: unknown): void => writeFileSync(file, JSON.stringify({ v: 1, tokens }));

  test('is known by its hash alone, until it expires', async () => {
    write([
      { name: 'billing', roles: ['manager'], sha256: digest('hf_service_a') },
      { name: 'old', roles: ['manager'], sha256: digest('hf_service_b'), expiresAt: 100 },
    ]);
    const at = async (now: number) => [await serviceLogin({ file, say, clock: () => now })];
    expect(await login('hf_service_a', await at(99))).toMatchObject({
      person: { id: 'service:billing', tenant: 'default', roles: ['manager'], via: 'service' },
    });
    expect(await login('hf_service_b', await at(99))).toMatchObject({ ok: true });
    expect(await login('hf_service_b', await at(100))).toMatchObject({ ok: false });
    expect(await login('hf_service_c', await at(99))).toMatchObject({ ok: false });
    expect(await login(digest('hf_service_a'), await at(99))).toMatchObject({ ok: false });
  });

  test('that leaves the file opens nothing a second later, and one that enters does', async () => {
    let now = 0;
    const token = (name: string) => ({ name, roles: [], sha256: digest(`hf_service_${name}`) });
    write([token('billing'), token('reports')]);
    const logins = [await serviceLogin({ file, say, clock: () => now })];
    const opens = async (name: string) => (await login(`hf_service_${name}`, logins))?.ok;
    expect(await opens('billing')).toBe(true);
    write([token('reports'), token('audits')]);
    now += 1_000;
    expect(await opens('billing')).toBe(false);
    expect(await opens('reports')).toBe(true);
    expect(await opens('audits')).toBe(true);
    const fresh = join(folder, 'fresh.json');
    writeFileSync(fresh, JSON.stringify({ v: 1, tokens: [token('billing')] }));
    renameSync(fresh, file);
    now += 1_000;
    expect(await opens('billing')).toBe(true);
    expect(await opens('audits')).toBe(false);
  });

  test('opens nothing while the file cannot be used, and the desk says so once', async () => {
    let now = 0;
    said.length = 0;
    const known = [{ name: 'billing', roles: [], sha256: digest('hf_service_a') }];
    write(known);
    const logins = [await serviceLogin({ file, say, clock: () => now })];
    const opens = async () => {
      now += 1_000;
      return (await login('hf_service_a', logins))?.ok;
    };
    for (const spoil of [() => writeFileSync(file, '{"v": 1, "tok'), () => rmSync(file)]) {
      spoil();
      expect([await opens(), await opens()]).toEqual([false, false]);
      expect(said).toEqual([expect.stringContaining('No service token opens the desk')]);
      write(known);
      expect(await opens()).toBe(true);
      expect(said).toHaveLength(2);
      said.length = 0;
    }
  });

  test('a file that is wrong is refused without a word of it', async () => {
    write([{ name: 'billing', roles: [], sha256: 'hf_service_secret' }]);
    const failure = await readServiceTokens(file).catch((error: Error) => error.message);
    expect(failure).toContain('no file of service tokens');
    expect(failure).not.toContain('secret');
  });
});

test('the token of local development speaks as anybody, and no other token does', async () => {
  const local = localLogin(['manager']);
  expect(await login(local.token, [local.authenticate])).toMatchObject({
    person: { id: 'developer', tenant: 'default', roles: ['manager', 'developer'] },
  });
  const headers = { 'holdfast-as': 'ann', 'holdfast-roles': 'finance, clerk' };
  expect(await login(local.token, [local.authenticate], headers)).toMatchObject({
    person: { id: 'ann', roles: ['finance', 'clerk'], via: 'local' },
  });
  expect(await login(`${local.token}x`, [local.authenticate], headers)).toMatchObject({
    ok: false,
  });
  expect(await login(localLogin([]).token, [local.authenticate])).toMatchObject({ ok: false });
});

const HOOK = { name: 'ops', url: 'https://hooks.example.org/', secretVariable: 'S' };

test.each([
  [
    { jwt: { issuer: ISSUER, audience: AUDIENCE, jwksUrl: 'http://login.example.org/keys' } },
    'https',
  ],
  [{ jwt: { issuer: ISSUER, audience: AUDIENCE, jwksUrl: 'file:///etc/passwd' } }, 'https'],
  [
    { jwt: { issuer: ISSUER, audience: AUDIENCE, jwksUrl: 'https://a/', algorithms: ['HS256'] } },
    'algorithms',
  ],
  [{ port: 70_000 }, 'console.port'],
  [{ surprise: true }, 'console'],
  [{ webhooks: [HOOK, { ...HOOK, tenants: ['a'] }] }, 'same name'],
])('a configuration that is not safe is refused: %j', (definition, message) => {
  expect(() => parseConsole(definition)).toThrow(message);
});

describe('who fails to log in too often', () => {
  const at = (perMinute: number) => strangersAt(rateLimit(perMinute, () => 0));

  test('waits before another token is looked at, however many are tried at once', () => {
    const strangers = at(3);
    const tried = Array.from({ length: 5 }, (_, index) => strangers.attempt('there', `t${index}`));
    expect(tried.map(({ seconds }) => seconds > 0)).toEqual([false, false, false, true, true]);
    expect(strangers.attempt('elsewhere', 't9').seconds).toBe(0);
  });

  test('does not keep out who logged in before, nor does a good login count', () => {
    const strangers = at(3);
    for (let index = 0; index < 20; index += 1) {
      const good = strangers.attempt('there', `good-${index}`);
      expect(good.seconds).toBe(0);
      good.succeeded();
    }
    for (let index = 0; index < 4; index += 1) strangers.attempt('there', `bad-${index}`).failed();
    expect(strangers.attempt('there', 'good-3').seconds).toBe(0);
    expect(strangers.attempt('there', 'new').seconds).toBeGreaterThan(0);
  });

  test('is asked to wait again once a token that was good is good no more', () => {
    const strangers = at(1);
    strangers.attempt('there', 'mine').succeeded();
    strangers.attempt('there', 'mine').failed();
    expect(strangers.attempt('there', 'mine').seconds).toBeGreaterThan(0);
  });
});
