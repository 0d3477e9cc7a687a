/** Logins of connectors at the desk: whoever begins one ends it, and nothing secret reaches the page. */
import { randomBytes } from 'node:crypto';
import { defineAgent, defineConfig, parseConsole } from '../../authoring/index.js';
import { deskLogins } from '../../connectors/desk-logins.js';
import { createApp } from '../../console/app.js';
import { connectorsNow } from '../../console/connectors-now.js';
import type { Desk } from '../../console/desk.js';
import type { Person } from '../../console/identity/person.js';
import { ENDPOINTS } from '../../console/routes/index.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import {
  CLIENT_SECRET,
  startProtectedServer,
  type ProtectedServer,
} from '../connectors/hostile-authorization.js';

const MIA: Person = { id: 'mia', name: 'Mia', tenant: 'default', roles: ['admin'], via: 'jwt' };
const KEYS = 'HOLDFAST_CONNECTOR_KEYS';

let store: MemoryStore;
let server: ProtectedServer;
let now: number;
beforeEach(async () => {
  now = 1_000;
  process.env[KEYS] = `k1:${randomBytes(32).toString('base64')}`;
  store = await openMemoryStore();
  server = await startProtectedServer();
});
afterEach(async () => {
  delete process.env[KEYS];
  await server.stop();
  await store.close();
});

function desk(person: Person = MIA) {
  const agent = { name: 'a', model: 'scripted/m', instructions: 'x', mcp: ['crm'] };
  const { connectors } = defineConfig({
    agents: [defineAgent(agent)],
    unknownModels: { prices: 'zero' },
    mcp: {
      crm: { url: server.url, auth: { grant: 'authorization_code' } },
      plain: { url: server.url },
    },
  });
  const clock = (): number => now;
  const logins = deskLogins({ connectors, store, clock });
  const app = createApp({
    desk: {
      store,
      settings: parseConsole({
        access: { connectors: ['admin'] },
        publicUrl: 'https://desk.example.com/',
      }),
      clock,
      say: () => undefined,
      owed: { write: async () => undefined, stop: async () => undefined },
      connectors: connectorsNow(
        { names: [...connectors.keys()], look: async () => [], logins },
        clock,
      ),
    } as unknown as Desk,
    endpoints: ENDPOINTS,
    logins: [async () => ({ ok: true, person })],
    version: 'test',
    signal: new AbortController().signal,
    page: () => undefined,
  });
  return async (path: string, body: object = {}) => {
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
    const reply = await app.request(
      path,
      { method: 'POST', headers, body: JSON.stringify(body) },
      { incoming: { socket: { remoteAddress: '192.0.2.1' } } },
    );
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
}

const LOGIN = '/v1/connectors/crm/login';

async function begun(person?: Person) {
  const { status, body } = await desk(person)(LOGIN);
  expect(status).toBe(200);
  const { headers } = await fetch(String(body['address']), { redirect: 'manual' });
  const back = new URL(headers.get('location')!);
  return { back, answer: Object.fromEntries(back.searchParams), body };
}

const row = () => store.connectorToken({ tenant: 'default', connector: 'crm' });

test('a person logs a connector in and out, and neither answer has a token', async () => {
  const { back, answer, body } = await begun();
  expect(back.origin + back.pathname).toBe('https://desk.example.com/connectors');
  expect(body).toMatchObject({ issuer: server.issuer, expiresAt: 601_000 });
  const ended = await desk()('/v1/connector-logins', answer);
  expect(ended).toMatchObject({ status: 200, body: { connector: 'crm', scope: 'contacts' } });
  expect((await row())?.state).toBe('ready');
  const left = await desk()('/v1/connectors/crm/logout');
  expect(left).toEqual({ status: 200, body: { was: true, revoked: true } });
  const trail = await store.readAudit('default', { limit: 10 });
  expect(trail).toMatchObject([
    { kind: 'connector_login', by: 'mia' },
    { kind: 'connector_logout', by: 'mia' },
  ]);
  const told = JSON.stringify([body, ended, left, trail]);
  for (const secret of ['access-token-', 'refresh-token-', CLIENT_SECRET])
    expect(told).not.toContain(secret);
});

test('a login is ended once, in time, by whoever began it', async () => {
  const ann = { ...MIA, id: 'ann' };
  const acme = { ...MIA, tenant: 'acme' };
  const { answer } = await begun();
  const end = (person: Person) => desk(person)('/v1/connector-logins', answer);
  expect((await end(ann)).status).toBe(404);
  expect((await end(acme)).status).toBe(404);
  expect((await row())?.token).toBeUndefined();
  expect((await end(MIA)).status).toBe(200);
  expect((await end(MIA)).status).toBe(404);
  const late = await begun();
  now += 600_000;
  expect((await desk()('/v1/connector-logins', late.answer)).status).toBe(404);
});

test('a login that fails says why in words of this program', async () => {
  server.misbehave({ sentBackWith: { iss: 'https://evil.example.com' } });
  const { answer } = await begun();
  const { status, body } = await desk()('/v1/connector-logins', answer);
  expect(status).toBe(409);
  expect(body).toMatchObject({
    code: 'login_failed',
    detail: expect.stringContaining('another issuer') as string,
  });
  expect((await row())?.token).toBeUndefined();
});

test('connectors without a login, unknown ones and people without the right get nowhere', async () => {
  expect((await desk()('/v1/connectors/plain/login')).status).toBe(404);
  expect((await desk()('/v1/connectors/none/logout')).status).toBe(404);
  for (const path of [LOGIN, '/v1/connectors/crm/logout', '/v1/connector-logins']) {
    const { status } = await desk({ ...MIA, roles: ['clerk'] })(path, { state: 'x' });
    expect([400, 403]).toContain(status);
  }
  expect(server.registered).toEqual([]);
});
