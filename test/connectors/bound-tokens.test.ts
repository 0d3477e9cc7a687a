/** Tokens that are bound to a key (DPoP): each request proves the key, and a token alone is worth nothing. */
import { randomBytes } from 'node:crypto';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { DeclaredAuth } from '../../authoring/connector-auth.js';
import { createConnectors } from '../../connectors/index.js';
import { endLogin, KEYS_VARIABLE, openLogin, type LoginAnswer } from '../../connectors/logins.js';
import { openStore, type Store } from '../../store/store.js';
import { startProtectedServer, type ProtectedServer } from './hostile-authorization.js';

const SECRET = 'HOLDFAST_TEST_CLIENT_SECRET';
const MACHINE = {
  grant: 'client_credentials',
  clientId: 'holdfast',
  clientSecret: { env: SECRET },
};
const PERSON = { grant: 'authorization_code' };
const ends: (() => Promise<void> | void)[] = [];
let server: ProtectedServer;
let store: Store;

beforeEach(async () => {
  process.env[KEYS_VARIABLE] = `k1:${randomBytes(32).toString('base64')}`;
  process.env[SECRET] = 'secret-of-the-operator';
  server = await startProtectedServer();
  server.misbehave({ bound: {} });
  store = await openStore({ file: ':memory:' });
  ends.push(() => server.stop());
  ends.push(() => store.close());
});
afterEach(async () => {
  delete process.env[KEYS_VARIABLE];
  delete process.env[SECRET];
  for (const end of ends.splice(0).toReversed()) await end();
});

function place(auth: object) {
  const issuer = server.issuer;
  const { connectors } = defineConfig({
    agents: [defineAgent({ name: 'a', model: 's/m', instructions: 'Help.', mcp: ['crm'] })],
    mcp: {
      crm: {
        url: server.url,
        trust: 'trusted',
        connectTimeoutMs: 5_000,
        auth: { dpop: true, issuer, ...auth } as DeclaredAuth,
      },
    },
  });
  const connector = connectors.get('crm')!;
  return { connectors, connector, tenant: 'default', store, clock: Date.now };
}

/** A worker of its own: what its server lists. */
function worker(auth: object): () => Promise<readonly string[]> {
  const connectors = createConnectors({ ...place(auth), tokens: store });
  ends.push(() => connectors.close());
  return async () => {
    const { definitions } = await connectors.list('crm', AbortSignal.timeout(20_000));
    return definitions.map(({ name }) => name);
  };
}

async function logIn(auth: object = PERSON) {
  const { address, pending } = await openLogin(place(auth), 'http://127.0.0.1:3917/callback');
  const { headers } = await fetch(address, { redirect: 'manual' });
  const { searchParams } = new URL(headers.get('location')!);
  const answer = Object.fromEntries(searchParams) as LoginAnswer;
  return endLogin(place(auth), pending, { answer, by: 'mia' });
}

test('a program proves a key with each request, and with the nonce that the server wants', async () => {
  const list = worker(MACHINE);
  // Wanted by the authorization server first, which is asked again with it.
  server.misbehave({ bound: { nonce: 'n1' } });
  expect([await list(), await list()]).toEqual([['it'], ['it']]);
  expect(server.asked).toHaveLength(2);
  // Of the server, whose nonce is another one later.
  server.misbehave({ bound: { nonce: 'n2' } });
  expect(await list()).toEqual(['it']);
  server.revoke();
  expect(await list()).toEqual(['it']);
  expect(server.asked).toHaveLength(3);
});

test('of a login all workers prove the one key, also after the next token, and the store has no key', async () => {
  await logIn();
  const [one, other] = [worker(PERSON), worker(PERSON)];
  expect([await one(), await other()]).toEqual([['it'], ['it']]);
  server.revoke();
  expect([await one(), await other()]).toEqual([['it'], ['it']]);
  const grants = server.asked.map(({ form }) => form.get('grant_type'));
  expect(grants).toEqual(['authorization_code', 'refresh_token']);
  const row = await store.connectorToken({ tenant: 'default', connector: 'crm' });
  expect(JSON.stringify(row)).not.toMatch(/thumbprint|"jwk"|access-token/);
});

test('a token that is bound to no key is not taken where bound ones are declared', async () => {
  server.misbehave({});
  const unbound = /its token is bound to no key, which the configuration wants/;
  await expect(worker(MACHINE)()).rejects.toThrow(unbound);
  await expect(logIn()).rejects.toThrow(unbound);
});

test('a login from before bound tokens were declared counts no more', async () => {
  server.misbehave({});
  await logIn({ ...PERSON, dpop: false });
  await expect(worker(PERSON)()).rejects.toThrow(/somebody has to log in again/);
});

test('an authorization server that takes proofs of another kind alone is not asked', async () => {
  server.misbehave({ bound: {}, metadata: { dpop_signing_alg_values_supported: ['EdDSA'] } });
  await expect(worker(MACHINE)()).rejects.toThrow(/takes no proofs that are signed with ES256/);
  await expect(logIn()).rejects.toThrow(/takes no proofs that are signed with ES256/);
  expect(server.asked).toEqual([]);
});
