/** Commands over the desk: any letters arrive, and what fails is told as what it is. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { parseConsole } from '../../../authoring/index.js';
import { askPersonHere } from '../../../cli/chat/ask-person.js';
import type { LineSource } from '../../../cli/chat/line-source.js';
import { runCli } from '../../../cli/program.js';
import { createOutput } from '../../../cli/terminal/output.js';
import { REASON_CHARS_MAX } from '../../../core/messages/reason-limit.js';
import { createApp } from '../../../console/app.js';
import type { Desk } from '../../../console/desk.js';
import { localLogin } from '../../../console/identity/local.js';
import { ENDPOINTS } from '../../../console/routes/index.js';

const QUESTION = {
  askId: 'run:3',
  kind: 'approval',
  tool: 'pay',
  args: {},
  argsHash: '',
  roles: [],
  quorum: 1,
  policyVersion: '1',
  openedAt: 0,
  expiresAt: 1,
};

const local = localLogin(['manager']);
let desk: ReturnType<typeof serve>;
let url: string;

beforeAll(async () => {
  const store = { appendAudit: async () => undefined };
  const known = { store, settings: parseConsole({}), clock: () => 0, say: () => undefined };
  const { fetch } = createApp({
    desk: known as unknown as Desk,
    endpoints: ENDPOINTS,
    logins: [local.authenticate],
    version: 'test',
    signal: new AbortController().signal,
    page: () => undefined,
  });
  url = await new Promise((listening) => {
    desk = serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      listening(`http://127.0.0.1:${port}`),
    );
  });
});
afterAll(() => void desk.close());

async function holdfast(argv: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  let out = '';
  let err = '';
  const at = { HOLDFAST_TOKEN: local.token, HOLDFAST_DESK_URL: url, ...variables };
  const code = await runCli(argv, {
    environment: { variables: at, folder: '/nowhere', colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

test.each([
  ['Ωλ', 'lead'],
  ['mia', '株'],
  ['Zoë', 'geprüft'],
  ['名前', 'Ωμέγα'],
])('whoever acts as %s with the role %s is that person at the desk', async (name, role) => {
  const { code, out, err } = await holdfast(['whoami', '--as', name, '--role', role, '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out)).toMatchObject({ id: name, roles: [role] });
});

test.each([
  ['a role with hidden characters', ['whoami', '--role', 'a\u202Eb'], {}, /--role has readable/],
  ['a token that no header holds', ['whoami'], { HOLDFAST_TOKEN: 'hf_–x' }, /HOLDFAST_TOKEN holds/],
  [
    'an id in other letters',
    ['goal', 'pause', 'march', '--id', '株'],
    {},
    /--id is 8 to 200 visible/,
  ],
  [
    'a user in the address',
    ['whoami', '--desk', 'http://a:secret@127.0.0.1:1'],
    {},
    /address of the desk names a user/,
  ],
])('%s is refused by its name before anybody is asked', async (_, argv, variables, says) => {
  const { code, err } = await holdfast(argv, variables as Readonly<Record<string, string>>);
  expect(code).toBe(2);
  expect(err).toMatch(says);
  expect(err).not.toContain('secret');
});

async function answering<T>(answer: RequestListener, work: (at: string) => Promise<T>): Promise<T> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a desk that nobody has started is told as one that is not there', async () => {
  const gone = await answering(
    () => undefined,
    async (at) => at,
  );
  const { code, err } = await holdfast(['whoami', '--desk', gone]);
  expect(code).toBe(1);
  expect(err).toMatch(/is not there[^]*holdfast console/);
});

test('an address that sends elsewhere is not told as a desk that is not there', async () => {
  const { code, err } = await answering(
    (_, answer) => answer.writeHead(302, { location: '/' }).end(),
    (at) => holdfast(['whoami', '--desk', at]),
  );
  expect(code).toBe(1);
  expect(err).not.toContain('is not there');
  expect(err).toMatch(/redirect[^]*HOLDFAST_DESK_URL/);
});

test('a token that the desk does not take is told with the variable to set', async () => {
  const { code, err } = await holdfast(['whoami'], { HOLDFAST_TOKEN: `${local.token}x` });
  expect(code).toBe(1);
  expect(err).toMatch(/does not take the token\.\nSet HOLDFAST_TOKEN to a valid token/);
  expect(err).not.toMatch(/header|hf_local/);
});

describe('fields that are not valid', () => {
  test('are told with what is wrong with them', async () => {
    const review = ['goal', 'review', 'march', '--objective', 'invalid'];
    const { code, err } = await holdfast([...review, '--because', 'x'.repeat(2_500)]);
    expect(code).toBe(1);
    expect(err).toMatch(/Some fields are not valid\. because: .*2000/);
  });

  test('are told in bounds, whatever the desk sends', async () => {
    const errors = [null, { path: 7 }, ...Array(5_000).fill({ path: 'a\u001B[2J', message: 'x' })];
    const { code, err } = await answering(
      (_, answer) => answer.writeHead(400).end(JSON.stringify({ detail: 'No.', errors })),
      (at) => holdfast(['whoami', '--desk', at]),
    );
    expect(code).toBe(1);
    expect(err).toMatch(/No\. [^]*: x\./);
    expect(err).not.toContain('\u001B');
    expect(err.length).toBeLessThan(1_500);
  });
});

describe('a reason that the run would cut', () => {
  const reason = 'x'.repeat(REASON_CHARS_MAX + 1);
  test.each([
    ['over the desk', {}],
    ['without a desk', { HOLDFAST_TOKEN: '' }],
  ])('is refused before anything is asked, %s', async (_, variables) => {
    for (const verb of ['approve', 'reject', 'answer']) {
      const argv = [verb, 'run:3', '--as', 'mia', '--reason', reason];
      expect(await holdfast(argv, variables)).toMatchObject({
        code: 2,
        err: expect.stringMatching(/--reason has at most 2000 characters, not 2001/),
      });
    }
  });

  test('is asked for again in a chat', async () => {
    const typed = [`n ${reason}`, 'n too dear'];
    const told: string[] = [];
    const { canUseTool } = askPersonHere({
      lines: { ask: async () => typed.shift() } as unknown as LineSource,
      output: createOutput(
        { out: (text) => void told.push(text), err: () => undefined },
        { json: false, colour: false },
      ),
    });
    const asked = { ask: QUESTION, runId: 'run', signal: new AbortController().signal };
    expect(await canUseTool('pay', {}, asked as never)).toEqual({
      behavior: 'deny',
      message: 'too dear',
    });
    expect(told.join('')).toContain('A reason has at most 2000 characters.');
  });
});

test.each(['approve', 'reject', 'modify', 'replace', 'answer', 'goal pause'])(
  'the help of %s says what an id has',
  async (command) => {
    const { out } = await holdfast([...command.split(' '), '--help']);
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(/--id <id> [^-]*8 to 200 visible ASCII characters/);
  },
);
