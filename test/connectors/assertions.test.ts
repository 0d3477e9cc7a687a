/** Connectors whose program proves itself by what it signs, or by an assertion of somebody else. */
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { MachineAuth } from '../../authoring/connector-auth.js';
import { createConnectors } from '../../connectors/index.js';
import { startProtectedServer, type ProtectedServer } from './hostile-authorization.js';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const variables = new Set<string>();
const ends: (() => Promise<void> | void)[] = [];
let server: ProtectedServer;

beforeEach(async () => {
  server = await startProtectedServer();
  ends.push(() => server.stop());
});
afterEach(async () => {
  for (const name of variables) delete process.env[name];
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A secret of the operator. */
function place(name: string, value: string): { readonly env: string } {
  const env = `HOLDFAST_TEST_${name}`;
  process.env[env] = value;
  variables.add(env);
  return { env };
}

function configOf(auth: object) {
  const declared = { clientId: 'holdfast', issuer: server.issuer, ...auth } as MachineAuth;
  return defineConfig({
    agents: [defineAgent({ name: 'a', model: 's/m', instructions: 'Help.', mcp: ['crm'] })],
    mcp: { crm: { url: server.url, trust: 'trusted', connectTimeoutMs: 5_000, auth: declared } },
  });
}

/** What the server lists, which it does for whoever has a token. */
async function listed(auth: object): Promise<readonly string[]> {
  const connectors = createConnectors(configOf(auth));
  ends.push(() => connectors.close());
  const { definitions } = await connectors.list('crm', AbortSignal.timeout(20_000));
  return definitions.map(({ name }) => name);
}

const asked = (): Readonly<Record<string, string>> =>
  Object.fromEntries(server.asked.at(-1)?.form ?? []);

const PAIRS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
} as const;

test.each(Object.keys(PAIRS) as (keyof typeof PAIRS)[])(
  'a client with a private key signs with %s for the issuer, anew each time, and the key is not sent',
  async (algorithm) => {
    const { publicKey, privateKey } = PAIRS[algorithm]();
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const auth = { grant: 'client_credentials', privateKey: place('KEY', pem) };
    expect(await listed(auth)).toEqual(['it']);
    const first = asked();
    expect(first).toMatchObject({
      grant_type: 'client_credentials',
      client_id: 'holdfast',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      resource: server.url,
      scope: 'contacts',
    });
    const { payload } = await jwtVerify(first['client_assertion']!, publicKey, {
      algorithms: [algorithm],
      audience: server.issuer,
      issuer: 'holdfast',
      subject: 'holdfast',
    });
    expect(payload.exp! - payload.iat!).toBe(60);
    await listed(auth);
    expect(asked()['client_assertion']).not.toBe(first['client_assertion']);
    for (const { form, authorization } of server.asked) {
      expect(authorization).toBe('');
      expect(form.toString()).not.toContain(encodeURIComponent(pem.split('\n')[1]!));
    }
  },
);

test.each([
  ['is no key', 'nothing that anybody wrote in PEM', /no key in PEM/],
  [
    'signs nothing',
    generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    /of a kind that signs no assertions/,
  ],
])(
  'a private key that %s is an error without the key, and nobody is asked',
  async (_, pem, why) => {
    const key = place('KEY', pem);
    const work = listed({ grant: 'client_credentials', privateKey: key });
    const error: unknown = await work.catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'tool_unavailable' });
    expect(String(error)).toMatch(why);
    expect(String(error)).not.toContain(pem.slice(0, 20));
    expect(server.asked).toEqual([]);
  },
);

test('a workload shows the assertion of its platform, as it stands there then', async () => {
  const auth = (text: string) => ({
    grant: 'jwt_bearer',
    assertion: place('ASSERTION', text),
    scope: 'contacts.read',
  });
  expect(await listed(auth('header.of-monday.signature'))).toEqual(['it']);
  expect(await listed(auth('header.of-tuesday.signature'))).toEqual(['it']);
  expect(server.asked.map(({ form }) => Object.fromEntries(form))).toMatchObject([
    { grant_type: JWT_BEARER, assertion: 'header.of-monday.signature', client_id: 'holdfast' },
    { assertion: 'header.of-tuesday.signature', scope: 'contacts.read', resource: server.url },
  ]);
});

test('the file of an assertion may be read by others, and is refused when they can write it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-assertion-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'token');
  writeFileSync(file, 'header.projected.signature\n');
  chmodSync(file, 0o644);
  const auth = { grant: 'jwt_bearer', assertion: { file } };
  expect(await listed(auth)).toEqual(['it']);
  expect(asked()).toMatchObject({ assertion: 'header.projected.signature' });
  for (const mode of [0o664, 0o646]) {
    chmodSync(file, mode);
    await expect(listed(auth)).rejects.toThrow(/may be written by others.*chmod 644/);
  }
});

test('an authorization server that gives the assertion back gets it into no error and no tool', async () => {
  const assertion = 'header.of-a-workload.signature';
  server.misbehave({ describes: () => `You showed ${assertion}.` });
  const connectors = createConnectors(
    configOf({ grant: 'jwt_bearer', assertion: place('ASSERTION', assertion) }),
  );
  ends.push(() => connectors.close());
  const { definitions } = await connectors.list('crm', AbortSignal.timeout(20_000));
  expect(definitions).toMatchObject([{ description: 'You showed [hidden].' }]);
  server.revoke();
  server.misbehave({
    answer: ({ form }, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      const error_description = form.toString();
      response.end(JSON.stringify({ error: 'invalid_grant', error_description }));
    },
  });
  const refused = connectors.list('crm', AbortSignal.timeout(20_000));
  const error: unknown = await refused.catch((e: unknown) => e);
  expect(String(error)).toContain('its authorization server says invalid_grant');
  expect(String(error)).not.toContain(assertion);
});

interface IdentityServer {
  readonly tokenEndpoint: string;
  readonly asked: Record<string, string>[];
  answer(status: number, body: object): void;
}

async function startIdentityServer(): Promise<IdentityServer> {
  const forms: Record<string, string>[] = [];
  let answer = { status: 200, body: {} };
  const http: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      forms.push(Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString())));
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => http.close(() => resolve())));
  return {
    tokenEndpoint: `http://127.0.0.1:${(http.address() as AddressInfo).port}/token`,
    asked: forms,
    answer: (status, body) => (answer = { status, body }),
  };
}

test('an identity provider gives an assertion for an id token, which goes to it alone', async () => {
  const provider = await startIdentityServer();
  const { privateKey } = PAIRS.ES256();
  const grant = await new SignJWT({ resource: server.url })
    .setProtectedHeader({ alg: 'ES256', typ: 'oauth-id-jag+jwt' })
    .sign(privateKey);
  const issued = 'urn:ietf:params:oauth:token-type:id-jag';
  provider.answer(200, { access_token: grant, issued_token_type: issued, token_type: 'N_A' });
  const idToken = new UnsecuredJWT({}).setSubject('mia@example.com').encode();
  const auth = {
    grant: 'jwt_bearer',
    clientSecret: place('SECRET', 'secret-at-the-server'),
    identity: {
      tokenEndpoint: provider.tokenEndpoint,
      clientId: 'holdfast-at-work',
      clientSecret: place('IDENTITY_SECRET', 'secret-at-the-provider'),
      idToken: place('ID_TOKEN', idToken),
    },
  };
  expect(await listed(auth)).toEqual(['it']);
  expect(provider.asked).toEqual([
    {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: issued,
      audience: server.issuer,
      resource: server.url,
      subject_token: idToken,
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      client_id: 'holdfast-at-work',
      client_secret: 'secret-at-the-provider',
      scope: 'contacts',
    },
  ]);
  expect(asked()).toMatchObject({ grant_type: JWT_BEARER, assertion: grant });
  const sent = server.asked.map(({ form }) => form.toString()).join();
  expect(sent).not.toContain(idToken);
  expect(sent).not.toContain('secret-at-the-provider');

  provider.answer(400, { error: 'invalid_grant', error_description: `no: ${idToken}` });
  const error: unknown = await listed(auth).catch((e: unknown) => e);
  expect(String(error)).toContain('its identity provider gives no assertion for the id token');
  expect(String(error)).not.toContain(idToken);
  expect(server.asked).toHaveLength(1);
});

const KEY = { env: 'HOLDFAST_TEST_KEY' };
test.each([
  ['a secret and a key', { grant: 'client_credentials', clientSecret: KEY, privateKey: KEY }],
  ['neither a secret nor a key', { grant: 'client_credentials' }],
  [
    'an algorithm without a key',
    { grant: 'jwt_bearer', assertion: KEY, signingAlgorithm: 'RS256' },
  ],
  ['no assertion', { grant: 'jwt_bearer' }],
  ['a key itself', { grant: 'client_credentials', privateKey: '-----BEGIN PRIVATE KEY-----' }],
  [
    'an identity provider in the clear',
    {
      grant: 'jwt_bearer',
      identity: { tokenEndpoint: 'http://id.example.com/token', clientId: 'h', idToken: KEY },
    },
  ],
])('a declaration with %s is refused', (_, auth) => {
  expect(() => configOf(auth)).toThrow(/mcp\.crm\.auth/);
  expect(() => configOf(auth)).not.toThrow(/BEGIN/);
});
