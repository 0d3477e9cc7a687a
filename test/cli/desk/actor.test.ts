/** Who acts at the terminal: `--as` where nobody else is, a token of the desk everywhere else. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../../cli/program.js';
import { compiledPath } from '../../compiled.js';
import { openStore, type Store } from '../../../store/store.js';

let folder: string;
let store: Store;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-actor-'));
  store = await openStore({ file: join(folder, 'store.db') });
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

type Variables = Readonly<Record<string, string>>;

async function freeze(variables: Variables, ...argv: readonly string[]) {
  let err = '';
  const words = ['freeze', '--tenant', '--reason', 'wave', ...argv];
  const code = await runCli([...words, '--store', join(folder, 'store.db')], {
    environment: { variables, folder, colour: false, interactive: false },
    streams: { out: () => undefined, err: (text) => void (err += text) },
  });
  return { code, err };
}

const ME = ['--as', 'mia'];
const SERVICE = { HOLDFAST_TOKEN: 'hf_service_x' };

test.each<[string, Variables, readonly string[], RegExp]>([
  ['nobody', {}, [], /The command does not say who acts.*HOLDFAST_TOKEN/s],
  ['an empty name', {}, ['--as', ' '], /--as is empty/],
  ['an empty role', {}, [...ME, '--role', ''], /--role is empty/],
  ['a name with hidden characters', {}, ['--as', 'm\u202eia'], /--as is a name/],
  [
    'a name, and the server is elsewhere',
    { HOLDFAST_ADDRESS: 'temporal.example.org:7233' },
    ME,
    /local development only, and the Temporal server is not on this machine/,
  ],
  [
    'a name, where the key of a desk lies',
    { HOLDFAST_DESK_KEY: 'key.json' },
    ME,
    /local development only, and this machine holds the key/,
  ],
  ['a name beside a token that says another', SERVICE, ME, /your token says who you are/],
  ['a role beside such a token', SERVICE, ['--role', 'chief'], /your token says who you are/],
  ['a desk without a token', {}, ['--desk', 'http://127.0.0.1:1'], /needs a token/],
  [
    'a token that would leave in the clear',
    SERVICE,
    ['--desk', 'http://desk.example.org'],
    /must be https, or http on this machine/,
  ],
])('%s freezes nothing, and says why', async (_what, variables, argv, why) => {
  const { code, err } = await freeze(variables, ...argv);
  expect(code).toBe(2);
  expect(err).toMatch(why);
  expect(err).not.toContain('hf_service_x');
  expect(await store.listFreezes('default')).toEqual([]);
});

test.each([
  'postgres://db.example.org/holdfast',
  'postgres://localhost/holdfast?host=db.example.org',
  'postgres:///holdfast?host=/var/run&hostaddr=192.0.2.1',
])('a store of another machine is no local development either: %s', async (url) => {
  const place = ['--store', url];
  let err = '';
  const code = await runCli(['approve', 'r:0', ...ME, ...place], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: () => undefined, err: (text) => void (err += text) },
  });
  expect({ code, err }).toMatchObject({
    code: 2,
    err: expect.stringContaining('the store is not'),
  });
});

describe('where the desk is', () => {
  const AUTHORING = JSON.stringify(compiledPath(join(__dirname, '../../../authoring/index.ts')));
  const CONFIG = 'holdfast.config.ts';
  const ELSEWHERE = 'elsewhere/named.config.ts';
  const JWT =
    "jwt: { issuer: 'https://login.example.org/', audience: 'a', jwksUrl: 'https://login.example.org/keys' }";
  let host: string;
  beforeEach(() => {
    host = mkdtempSync(join(tmpdir(), 'holdfast-cli-host-'));
    mkdirSync(join(host, '.holdfast'));
    mkdirSync(join(host, 'elsewhere'));
  });
  afterEach(() => rmSync(host, { recursive: true, force: true }));

  const configWith = (desk: string): string => `
    import { defineAgent, defineConfig } from ${AUTHORING};
    const agent = defineAgent({ name: 'a', model: 'scripted/x', instructions: 'Help.' });
    export default defineConfig({ agents: [agent], console: { ${desk} } });`;

  /** A store of the host's own, so that the place of it is the default one. */
  async function freezeThere(variables: Variables, ...argv: readonly string[]) {
    const own = await openStore({ file: join(host, '.holdfast/store.db') });
    try {
      let err = '';
      const code = await runCli(['freeze', '--tenant', '--reason', 'wave', ...ME, ...argv], {
        environment: { variables, folder: host, colour: false, interactive: false },
        streams: { out: () => undefined, err: (text) => void (err += text) },
      });
      return { code, err, set: (await own.listFreezes('default')).length };
    } finally {
      await own.close();
    }
  }

  test.each<[string, string, string, Variables, readonly string[], RegExp]>([
    [
      'its key',
      '.holdfast/desk-key.json',
      '{}',
      {},
      [],
      /holds the key of a desk .*desk-key\.json/,
    ],
    [
      'its key, beside the store',
      '.holdfast/desk-key.json',
      '{}',
      {},
      ['--home', 'elsewhere', '--store', '.holdfast/store.db'],
      /holds the key of a desk/,
    ],
    [
      'tokens of people',
      CONFIG,
      configWith(JWT),
      {},
      [],
      /people log in.*console\.jwt in holdfast/,
    ],
    [
      'tokens of people, in a file that is named',
      ELSEWHERE,
      configWith(JWT),
      { HOLDFAST_CONFIG: ELSEWHERE },
      // Without it the store would be looked for beside that file.
      ['--home', '.holdfast'],
      /people log in/,
    ],
    [
      'tokens of services',
      CONFIG,
      configWith("serviceTokens: 'tokens.json'"),
      {},
      [],
      /people log in.*console\.serviceTokens/,
    ],
  ])(
    '%s: a name proves nothing, and what does is said',
    async (_what, file, text, variables, argv, why) => {
      writeFileSync(join(host, file), text);
      const { code, err, set } = await freezeThere(variables, ...argv);
      expect({ code, set }).toEqual({ code: 2, set: 0 });
      expect(err).toMatch(why);
      expect(err).toMatch(/Set HOLDFAST_TOKEN to your token of the approval desk/);
    },
  );

  test('a configuration that cannot be read may be one of a desk', async () => {
    writeFileSync(join(host, CONFIG), 'export default {');
    const { code, err, set } = await freezeThere({});
    expect({ code, set }).toEqual({ code: 1, set: 0 });
    expect(err).toMatch(/cannot be loaded/);
  });

  test('nobody is told apart while developing, also with the key that `holdfast dev` has made', async () => {
    writeFileSync(join(host, '.holdfast/dev-desk-key.json'), '{}');
    writeFileSync(join(host, CONFIG), configWith(''));
    expect(await freezeThere({ HOLDFAST_DESK_KEY: '' })).toMatchObject({ code: 0, set: 1 });
  });
});
