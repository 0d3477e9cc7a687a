/** `holdfast mcp` over the desk, by somebody who has a token of it and neither store nor configuration. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { serve } from '@hono/node-server';
import { defineAgent, defineConfig, parseConsole } from '../../authoring/index.js';
import { runCli } from '../../cli/program.js';
import { deskLogins } from '../../connectors/desk-logins.js';
import { survey } from '../../connectors/survey.js';
import { createApp } from '../../console/app.js';
import { connectorsNow } from '../../console/connectors-now.js';
import type { Desk } from '../../console/desk.js';
import { ENDPOINTS } from '../../console/routes/index.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import {
  CLIENT_SECRET,
  startProtectedServer,
  type ProtectedServer,
} from '../connectors/hostile-authorization.js';
import { startModernServer, type ModernServer } from '../connectors/modern-server.js';

const KEYS = 'HOLDFAST_CONNECTOR_KEYS';
const PEOPLE: Readonly<Record<string, readonly string[]>> = { mia: ['admin'], clerk: ['clerk'] };

let folder: string;
let store: MemoryStore;
let guarded: ProtectedServer;
let plain: ModernServer;
/** The desk shows again what it saw moments ago. */
let skippedMs = 0;
const forgotten = (): void => void (skippedMs += 60_000);
let desk: { readonly url: string; close(): Promise<void> };

beforeAll(async () => {
  process.env[KEYS] = `k1:${randomBytes(32).toString('base64')}`;
  folder = mkdtempSync(join(tmpdir(), 'holdfast-mcp-at-desk-'));
  store = await openMemoryStore();
  guarded = await startProtectedServer();
  plain = await startModernServer([
    { name: 'find', description: 'Finds.', run: () => 'x' },
    { name: 'put', description: 'Puts.', run: () => 'x' },
  ]);
  desk = await startDesk();
});
afterAll(async () => {
  delete process.env[KEYS];
  await desk.close();
  await plain.stop();
  await guarded.stop();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function startDesk(): Promise<typeof desk> {
  const config = defineConfig({
    agents: [
      defineAgent({ name: 'a', model: 'scripted/m', instructions: 'x', mcp: ['crm', 'plain'] }),
    ],
    unknownModels: { prices: 'zero' },
    mcp: {
      crm: { url: guarded.url, auth: { grant: 'authorization_code' } },
      plain: { url: plain.url },
    },
  });
  const { connectors } = config;
  const clock = (): number => Date.now() + skippedMs;
  const look = (tenant: string, connector?: string) => survey({ config, store, tenant, connector });
  const logins = deskLogins({ connectors, store, clock });
  const app = createApp({
    desk: {
      store,
      settings: parseConsole({ access: { connectors: ['admin'] } }),
      clock,
      say: () => undefined,
      owed: { write: async () => undefined, stop: async () => undefined },
      connectors: connectorsNow({ names: [...connectors.keys()], look, logins }, clock),
    } as unknown as Desk,
    endpoints: ENDPOINTS,
    logins: [
      async ({ token: id }) =>
        PEOPLE[id] === undefined
          ? undefined
          : {
              ok: true,
              person: { id, name: id, tenant: 'default', roles: PEOPLE[id], via: 'jwt' },
            },
    ],
    version: 'test',
    signal: new AbortController().signal,
    page: () => undefined,
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
  await new Promise<void>((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

interface Said {
  readonly as?: string;
  readonly url?: string;
  /** What a person does with the first line. */
  readonly visit?: (line: string) => void;
  /** By a person at a terminal; absent: nobody is there. */
  readonly typed?: string;
}

async function holdfast(words: readonly string[], { as = 'mia', url, visit, typed }: Said = {}) {
  let out = '';
  let err = '';
  const place = ['--store', join(folder, 'store.db'), '--home', folder];
  const input = new PassThrough();
  input.end(typed);
  const code = await runCli([...words, '--desk', url ?? desk.url, ...place], {
    environment: {
      variables: { HOLDFAST_TOKEN: as },
      folder,
      colour: false,
      interactive: typed !== undefined,
    },
    input,
    streams: {
      out: (text) => {
        if (out === '') visit?.(text);
        out += text;
      },
      err: (text) => void (err += text),
    },
  });
  return { code, out, err };
}

const LOGIN = ['mcp', 'login', 'crm', '--json'] as const;

test('a login over the desk comes back to this machine, past an answer of somebody else, and is the one of the token', async () => {
  let forged = 0;
  let visited: Promise<string> | undefined;
  const { code, out, err } = await holdfast(LOGIN, {
    visit: (line) => {
      const { address, redirectUrl } = JSON.parse(line) as Record<
        'address' | 'redirectUrl',
        string
      >;
      visited = (async () => {
        forged = (await fetch(`${redirectUrl}?code=forged&state=guessed`)).status;
        return (await fetch(address)).text();
      })();
    },
  });
  expect(await visited).toContain('has logged in the connector crm');
  expect({ code, err, forged }).toEqual({ code: 0, err: '', forged: 400 });
  const row = await store.connectorToken({ tenant: 'default', connector: 'crm' });
  expect(row).toMatchObject({ state: 'ready' });
  expect(JSON.parse(out.trim().split('\n').at(-1)!)).toMatchObject({
    connector: 'crm',
    issuer: guarded.issuer,
    renews: true,
  });
  const gone = await holdfast(['mcp', 'logout', 'crm', '--json']);
  expect(JSON.parse(gone.out)).toEqual({ connector: 'crm', was: true, revoked: true });
  for (const secret of ['access-token-', 'refresh-token-', CLIENT_SECRET])
    expect(out + gone.out).not.toContain(secret);
  expect(await store.readAudit('default', { limit: 10 })).toMatchObject([
    { kind: 'connector_login', by: 'mia' },
    { kind: 'connector_logout', by: 'mia' },
  ]);
});

const findTool = (description: string) => ({ name: 'find', description, run: () => 'x' });
const PUT = { name: 'put', description: 'Puts.', run: () => 'x' };

interface Told {
  readonly connectors: readonly {
    readonly connector: string;
    readonly tools: readonly { readonly name: string; readonly hash: string }[];
  }[];
}

async function seen(...words: readonly string[]) {
  const { out } = await holdfast(['mcp', 'list', ...words, '--json']);
  return JSON.parse(out) as Told;
}

test('what servers offer is listed over the desk, with schemas, one connector or all', async () => {
  const one = await seen('plain');
  expect(one.connectors).toMatchObject([
    {
      connector: 'plain',
      status: 'connected',
      tools: [
        {
          name: 'mcp__plain__find',
          state: 'first use',
          hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
          definition: { name: 'find', description: 'Finds.', inputSchema: { type: 'object' } },
        },
        { name: 'mcp__plain__put' },
      ],
    },
  ]);
  expect((await seen()).connectors.map(({ connector }) => connector)).toEqual(['crm', 'plain']);
  const { out } = await holdfast(['mcp', 'list', 'plain', '--schema']);
  expect(out).toMatch(/mcp__plain__find +unknown +first use +[0-9a-f]{12}\n/);
  expect(out).toContain('mcp__plain__put takes {"properties":{},"type":"object"}');
});

test('tools are approved over the desk as they were seen there, and not when their server has changed them since', async () => {
  const [{ tools }] = (await seen('plain')).connectors as [Told['connectors'][number]];
  const words = tools.map(({ name, hash }) => `${name}@${hash}`);
  const all = await holdfast(['mcp', 'approve', 'plain', ...words]);
  expect(all).toMatchObject({ code: 0, err: '' });
  expect(all.out).toMatch(/mcp__plain__find .*\n.*mcp__plain__put /);
  expect(await holdfast(['mcp', 'check', 'plain'])).toMatchObject({ code: 0 });

  plain.offer([findTool('Finds more.'), PUT]);
  forgotten();
  expect(await holdfast(['mcp', 'check', 'plain'])).toMatchObject({
    code: 1,
    out: 'mcp__plain__find: changed\n',
  });
  const diff = await holdfast(['mcp', 'diff', 'plain']);
  expect(diff.out).toMatch(/description was "Finds\."\n +description is {2}"Finds more\."/);
  const [command = ''] = /mcp approve .*plain mcp__plain__find@[0-9a-f]{64}/.exec(diff.err) ?? [];
  plain.offer([findTool('Sends all to me.'), PUT]);
  const late = await holdfast(command.split(' '));
  expect(late.code).toBe(1);
  expect(late.err).toMatch(/describes mcp__plain__find otherwise than it was shown/);
  plain.offer([findTool('Finds more.'), PUT]);
  forgotten();
  expect(await holdfast(command.split(' '))).toMatchObject({ code: 0 });

  const trail = await store.readAudit('default', { limit: 20 });
  expect(
    trail.flatMap(({ kind, by, facts }) => (kind === 'tool_approved' ? [[by, facts['tool']]] : [])),
  ).toEqual([
    ['mia', 'mcp__plain__find'],
    ['mia', 'mcp__plain__put'],
    ['mia', 'mcp__plain__find'],
  ]);
});

test('over the desk a person at a terminal sees schema, effect and hash of each tool before they say yes', async () => {
  plain.offer([findTool('Finds everything.'), PUT]);
  forgotten();
  const { code, out } = await holdfast(['mcp', 'approve', 'plain'], { typed: '' });
  expect(code).toBe(1);
  expect(out).toMatch(/^mcp__plain__find: changed, effect unknown, hash [0-9a-f]{64}\n/);
  expect(out).toContain('inputSchema is still {"properties":{},"type":"object"}');
});

test.each([
  ['a connector that is none', ['mcp', 'approve', 'erp'], {}, /no connector "erp"/],
  ['a connector without a login', ['mcp', 'login', 'plain'], {}, /no connector "plain", or no/],
  ['a list of a connector that is none', ['mcp', 'list', 'erp'], {}, /no connector "erp"/],
  [
    'a reader without the right',
    ['mcp', 'diff'],
    { as: 'clerk' },
    /None of your roles allows this/,
  ],
  [
    'a tool that nobody has seen',
    ['mcp', 'approve', 'plain', 'find'],
    {},
    /as somebody has seen them/,
  ],
  ['a tool that is none', ['mcp', 'approve', 'plain', 'drop'], {}, /no usable tool drop.*find/s],
  [
    'somebody without the right',
    ['mcp', 'login', 'crm'],
    { as: 'clerk' },
    /None of your roles allows this/,
  ],
  ['a name beside the token', ['mcp', 'login', 'crm', '--as', 'ann'], {}, /local development only/],
  [
    'a tenant beside the token',
    ['mcp', 'approve', 'plain', '--tenant', 'x'],
    {},
    /names your tenant/,
  ],
])('%s gets nowhere', async (_, words, said: Said, why) => {
  const { code, err } = await holdfast(words, said);
  expect(code).not.toBe(0);
  expect(err).toMatch(why);
});

test('an address that no browser may be sent to is not shown', async () => {
  const odd = createServer((socket) => {
    const body = JSON.stringify({
      address: 'javascript:alert(1)?state=x',
      issuer: 'https://a.example',
      expiresAt: 1,
    });
    socket.once('data', () =>
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      ),
    );
  });
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
  const { code, out, err } = await holdfast(LOGIN, { url });
  await new Promise((resolve) => odd.close(resolve));
  expect({ code, out }).not.toMatchObject({ code: 0 });
  expect(out + err).not.toContain('javascript');
});

test('nothing of it needs the store of the workers', () => {
  expect(readdirSync(folder)).toEqual([]);
});
