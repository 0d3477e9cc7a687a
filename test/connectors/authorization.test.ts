/** Connectors that are authorized by client credentials, also against servers that mean harm. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { ClientCredentials } from '../../authoring/connector-auth.js';
import { createConnectors, pinnedTool } from '../../connectors/index.js';
import {
  startProtectedServer,
  type Misbehaviour,
  type ProtectedServer,
} from './hostile-authorization.js';

const VARIABLE = 'HOLDFAST_TEST_CLIENT_SECRET';
const SECRET = 'client-secret/of+the operator';
const ends: (() => Promise<void> | void)[] = [];
let server: ProtectedServer;

beforeEach(async () => {
  process.env[VARIABLE] = SECRET;
  server = await startProtectedServer();
  ends.push(() => server.stop());
});
afterEach(async () => {
  delete process.env[VARIABLE];
  connectTimeoutMs = 20_000;
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A server that never answers is waited for no longer than this; ms. */
const HASTY_MS = 1_500;
let connectTimeoutMs = 20_000;

function configOf(over: Partial<ClientCredentials> = {}, url = server.url) {
  return defineConfig({
    agents: [defineAgent({ name: 'a', model: 's/m', instructions: 'Help.', mcp: ['crm'] })],
    mcp: {
      crm: {
        url,
        trust: 'trusted',
        connectTimeoutMs,
        auth: {
          grant: 'client_credentials',
          clientId: 'holdfast',
          clientSecret: { env: VARIABLE },
          issuer: server.issuer,
          ...over,
        },
      },
    },
  });
}

function client(over: Partial<ClientCredentials> = {}, clock?: () => number) {
  const config = configOf(over);
  const connectors = createConnectors({ ...config, ...(clock && { clock }) });
  ends.push(() => connectors.close());
  const list = () => connectors.list('crm', AbortSignal.timeout(20_000));
  return {
    list,
    async call(): Promise<unknown> {
      const { definitions } = await list();
      const pinned = pinnedTool(config.connectors.get('crm')!, definitions[0]!)!;
      const tool = await connectors.tool(pinned, 'default');
      return tool.run(
        {},
        {
          runId: 'r',
          tenant: 'default',
          callId: 'c',
          idempotencyKey: 'k',
          attempt: 1,
          traceId: 't',
          signal: AbortSignal.timeout(20_000),
          cost: () => undefined,
          sandbox: undefined as never,
        },
      );
    },
  };
}

test('a connector gets a token for its server and the scope that the server names, once for many calls', async () => {
  const { call } = client();
  expect(await Promise.all([call(), call(), call()])).toEqual(['done', 'done', 'done']);
  const [{ form }] = server.asked as [(typeof server.asked)[0]];
  expect(Object.fromEntries(form)).toMatchObject({
    grant_type: 'client_credentials',
    resource: server.url,
    scope: 'contacts',
  });
  expect(server.asked).toHaveLength(1);
});

test('a token that the server refuses is asked for anew, and one that ends is before it is used', async () => {
  let now = 0;
  const { call } = client({ scope: 'mine' }, () => now);
  await call();
  server.revoke();
  expect(await call()).toBe('done');
  expect(server.asked).toHaveLength(2);
  now += 3_600_000;
  expect(await call()).toBe('done');
  expect(server.asked.map(({ form }) => form.get('scope'))).toEqual(['mine', 'mine', 'mine']);
});

test('the secret is read from a file that its owner alone may read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-secret-'));
  ends.push(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'secret');
  writeFileSync(file, `${SECRET}\n`, { mode: 0o600 });
  expect(await client({ clientSecret: { file } }).call()).toBe('done');
  chmodSync(file, 0o644);
  await expect(client({ clientSecret: { file } }).call()).rejects.toThrow(/chmod 600/);
});

test('the secret goes to no issuer but the declared one', async () => {
  await expect(client({ issuer: 'https://auth.example.com' }).call()).rejects.toThrow(
    /is not authorized/,
  );
  server.misbehave({ issuer: 'https://auth.example.com' });
  await expect(client().call()).rejects.toThrow(/is not authorized/);
  expect(server.asked).toHaveLength(0);
});

test('a configuration that would send secrets in the clear, or hold one, is refused', () => {
  expect(() => configOf({ issuer: 'http://auth.example.com' })).toThrow(/mcp\.crm/);
  expect(() => configOf({}, 'http://crm.example.com/mcp')).toThrow(/no token may be sent/);
  const held = SECRET as unknown as ClientCredentials['clientSecret'];
  expect(() => configOf({ clientSecret: held })).toThrow(/mcp\.crm\.auth\.clientSecret/);
  expect(() => configOf({ clientSecret: held })).not.toThrow(SECRET);
});

const ODD: { readonly [name: string]: Misbehaviour } = {
  'echoes what it was sent in an error': {
    answer: ({ authorization, form }, response) => {
      const error_description = `${authorization} ${form.toString()} ${SECRET}`;
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: 'invalid_client', error_description }));
    },
  },
  'redirects elsewhere': {
    answer: (_, response) => void response.writeHead(307, { location: '/mcp' }).end(),
  },
  'answers what is huge': {
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ access_token: 'x'.repeat(200_000), token_type: 'Bearer' }));
    },
  },
  'answers what is no answer': {
    answer: ({ authorization }, response) => void response.writeHead(200).end(authorization),
  },
  'never answers': { answer: () => undefined },
};

test.each(Object.entries(ODD))(
  'an authorization server that %s is an error without secrets',
  async (_, odd) => {
    server.misbehave(odd);
    connectTimeoutMs = HASTY_MS;
    const error: unknown = await client()
      .call()
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'tool_unavailable' });
    expect(String(error)).toMatch(/The connector crm is not authorized: |cannot be reached: /);
    expectNoSecret(error);
  },
);

test('no result has a token or a secret that its server gives back, whatever stands around it', async () => {
  const { call } = client();
  await call();
  const words = fc.string({ maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(words, words, fc.boolean(), async (before, after, asSecret) => {
      server.misbehave({ says: (token) => `${before}${asSecret ? SECRET : token}${after}` });
      const result = String(await call());
      expect(result).toContain('[hidden]');
      expectNoSecret(result);
    }),
    { numRuns: 25 },
  );
});

function expectNoSecret(value: unknown): void {
  const { message, stack, cause } = (value ?? {}) as Partial<Error>;
  const text = JSON.stringify([value, message, stack, String(cause)]);
  for (const secret of [SECRET, encodeURIComponent(SECRET), 'access-token-'])
    expect(text).not.toContain(secret);
  expect(text).not.toContain(Buffer.from(`holdfast:${SECRET}`).toString('base64'));
}
