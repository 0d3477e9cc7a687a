/** `holdfast mcp login` and `logout`: a person's browser comes back to this machine, and nothing secret is printed. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { compiledPath } from '../compiled.js';
import {
  CLIENT_SECRET,
  startProtectedServer,
  type ProtectedServer,
} from '../connectors/hostile-authorization.js';

const KEYS = 'HOLDFAST_CONNECTOR_KEYS';
let folder: string;
let server: ProtectedServer;

beforeEach(async () => {
  process.env[KEYS] = `k1:${randomBytes(32).toString('base64')}`;
  folder = mkdtempSync(join(tmpdir(), 'holdfast-mcp-login-'));
  server = await startProtectedServer();
  const authoring = compiledPath(join(__dirname, '..', '..', 'authoring', 'index.ts'));
  const connector = { url: server.url, auth: { grant: 'authorization_code' }, trust: 'trusted' };
  writeFileSync(
    join(folder, 'holdfast.config.cjs'),
    `const { defineAgent, defineConfig } = require(${JSON.stringify(authoring)});
     const agent = defineAgent({ name: 'a', model: 'scripted/m', instructions: 'x', mcp: ['crm'] });
     module.exports = defineConfig({
       agents: [agent], unknownModels: { prices: 'zero' },
       mcp: { crm: ${JSON.stringify(connector)}, other: { command: 'true' } },
     });`,
  );
});
afterEach(async () => {
  delete process.env[KEYS];
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** `visit`: what a person does with the first line. */
async function holdfast(words: readonly string[], visit?: (line: string) => void) {
  let out = '';
  let err = '';
  const place = ['--store', join(folder, 'store.db'), '--home', folder];
  const code = await runCli([...words, ...place], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: {
      out: (text) => {
        if (out === '') visit?.(text);
        out += text;
      },
      err: (text) => void (err += text),
    },
  });
  return { code, out, err, said: `${out}${err}` };
}

interface Begun {
  readonly address: string;
  readonly redirectUrl: string;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

const LOGIN = ['mcp', 'login', 'crm', '--as', 'mia', '--json'] as const;

test('a person logs in, past an answer of somebody else, and out; the files have no token', async () => {
  const before = await holdfast(['mcp', 'check', 'crm']);
  expect(before).toMatchObject({ code: 1 });
  expect(before.out).toContain('needs a login: nobody has logged in');
  let forged = 0;
  const { code, out, err } = await holdfast(LOGIN, (line) => {
    const { address, redirectUrl } = JSON.parse(line) as Begun;
    void (async () => {
      const answer = await fetch(`${redirectUrl}?code=forged&state=guessed`);
      forged = answer.status;
      const page = await fetch(address);
      expect(await page.text()).toContain('has logged in the connector crm');
    })();
  });
  expect({ code, err, forged }).toEqual({ code: 0, err: '', forged: 400 });
  expect(JSON.parse(out.trim().split('\n').at(-1)!)).toMatchObject({
    connector: 'crm',
    issuer: server.issuer,
    scope: 'contacts',
    renews: true,
  });
  const after = await holdfast(['mcp', 'check', 'crm']);
  expect(after).toMatchObject({ code: 0, err: '' });
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'));
  for (const secret of ['access-token-', 'refresh-token-', CLIENT_SECRET]) {
    expect([out, before.said, after.said, ...files].join('\n')).not.toContain(secret);
  }
  const gone = await holdfast(['mcp', 'logout', 'crm', '--as', 'mia', '--json']);
  expect(JSON.parse(gone.out)).toEqual({ connector: 'crm', was: true, revoked: true });
  const { rows } = JSON.parse((await holdfast(['audit', 'list', '--json'])).out) as {
    readonly rows: readonly object[];
  };
  expect(rows).toMatchObject([
    { kind: 'connector_login', by: 'mia', facts: { connector: 'crm', scope: 'contacts' } },
    { kind: 'connector_logout', by: 'mia', facts: { connector: 'crm' } },
  ]);
});

test('an authorization server that has forgotten the client says so once, and the next login registers another one', async () => {
  const port = await freePort();
  const login = (): ReturnType<typeof holdfast> =>
    holdfast([...LOGIN, '--port', `${port}`], (line) => {
      void fetch((JSON.parse(line) as Begun).address).then((page) => page.text());
    });
  const check = (): ReturnType<typeof holdfast> => holdfast(['mcp', 'check', 'crm']);
  expect((await login()).code).toBe(0);
  expect((await login()).code).toBe(0);
  expect(server.registered).toHaveLength(1);

  server.forgetClients();
  const refused = await login();
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.out).toContain('its authorization server says invalid_client');
  expect(refused.out).toMatch(
    /Begin it again with `holdfast mcp login --store \S+ --home \S+ crm`/,
  );
  expect(server.registered).toHaveLength(1);
  // The token of the login before counts as long as its server takes it.
  expect(await check()).toMatchObject({ code: 0 });

  expect((await login()).code).toBe(0);
  expect(server.registered).toHaveLength(2);
  expect(await check()).toMatchObject({ code: 0 });

  // A worker that wants the next token hears it as well, and the login that it asks for registers another one at once.
  server.forgetClients();
  server.revoke();
  expect((await check()).out).toContain('needs a login: its last login counts no more');
  expect((await login()).code).toBe(0);
  expect(server.registered).toHaveLength(3);
  expect(await check()).toMatchObject({ code: 0 });
});

test('a refusal of the person ends the command with the reason', async () => {
  server.misbehave({ sentBackWith: { error: 'access_denied' } });
  const { code, out } = await holdfast(LOGIN, (line) => {
    void fetch((JSON.parse(line) as Begun).address).then((page) => page.text());
  });
  expect(code).toBe(1);
  expect(out).toContain('its authorization server says access_denied');
});

test('nobody is waited for longer than --timeout, and nothing is left listening', async () => {
  let begun: Begun | undefined;
  const { code, out } = await holdfast([...LOGIN, '--timeout', '50ms'], (line) => {
    begun = JSON.parse(line) as Begun;
  });
  expect(code).toBe(1);
  expect(out).toContain('waited 50ms for a login');
  await expect(fetch(begun!.redirectUrl)).rejects.toThrow('fetch failed');
});

test('Ctrl-C ends the wait and leaves nothing behind', async () => {
  const { code, err } = await holdfast(LOGIN, () => {
    setImmediate(() => process.emit('SIGINT'));
  });
  expect(code).toBe(130);
  expect(err).toContain('The login was not made.');
});

test.each([
  [['mcp', 'login', 'none', '--as', 'mia'], /has no connector "none"/],
  [['mcp', 'login', 'other', '--as', 'mia'], /The connector other has no login/],
  [['mcp', 'logout', 'other', '--as', 'mia'], /The connector other has no login/],
  [['mcp', 'login', 'crm'], /does not say who acts/],
  [['mcp', 'login', 'crm', '--as', 'mia', '--timeout', 'soon'], /--timeout is a duration/],
])('%j says what is wrong', async (words, why) => {
  const { code, err } = await holdfast(words);
  expect(code).not.toBe(0);
  expect(err).toMatch(why);
});
