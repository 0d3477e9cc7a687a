/** Calls that open something refuse what they cannot mean, before anything is opened: no other server or store is taken. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import { connect, query } from '../../client/index.js';
import { openMemoryStore, openStore } from '../../store/store.js';
import { readEnvironment, runWorkerProcess, startWorker } from '../../worker/index.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-options-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, 'store.db');
/** Nothing listens there, and nobody waits for long. */
const nowhere = { address: '127.0.0.1:9', connectLimitMs: 300 };
const config = defineConfig({
  agents: [defineAgent({ name: 'a', model: 'scripted/x', instructions: 'Help.' })],
});
const worker = () => ({
  address: '127.0.0.1:9',
  namespace: 'default',
  taskQueue: 'test',
  storePlace: file(),
  config,
  providers: new Map(),
  connectAttemptsMax: 1,
});

const connects = (options: unknown) => () => connect(options as never);
const opens = (options: () => unknown) => () => openStore(options() as never);
const serves = (more: object) => () => startWorker({ ...worker(), ...more } as never);
const runs = (options: unknown) => () => runWorkerProcess(options as never);

test.each<[() => Promise<unknown>, string, RegExp]>([
  [connects({ adress: 'x:1' }), 'connect has no option adress.', /^Did you mean address\? The opt/],
  [connects({ ...nowhere, store: 'x.db' }), 'it must be what openStore gives', /^Correct store/],
  [connects({ ...nowhere, store: { file: 'x.db' } }), 'what openStore gives', /^Correct store/],
  [connects({ address: 'http://a:7233' }), 'it must be host:port, without http://', /address/],
  [connects({ address: '' }), 'it must be host:port', /address/],
  [connects({ address: 7233 }), 'it must be host:port', /address/],
  [connects({ ...nowhere, namespace: ' ' }), 'a text that is not blank', /namespace/],
  [connects({ ...nowhere, tls: { cacert: 'x' } }), '{ ca, cert, key, serverName }', /tls/],
  [connects({ ...nowhere, payloadCodecs: {} }), 'it must be a list', /Codecs/],
  [connects('localhost:7233'), 'connect takes an object of options, and got a string.', /address/],
  [connects(null), 'connect takes an object of options, and got null.', /address/],
  [opens(() => file()), 'openStore takes either a file or a url.', /\{ file: /],
  [opens(() => undefined), 'openStore takes either a file or a url.', /\{ file: /],
  [opens(() => ({})), 'openStore takes either a file or a url.', /\{ file: .*\{ url: /],
  [opens(() => ({ path: file() })), 'openStore takes either a file or a url.', /\{ file: /],
  [opens(() => ({ file: file(), url: 'postgres://a/b' })), 'either a file or a url', /\{ file: /],
  [opens(() => ({ file: file(), snyc: 'each' })), 'no option snyc', /^Did you mean sync\?/],
  [opens(() => ({ file: file(), connectionsMax: 5 })), 'no option connectionsMax', /file, busy/],
  [opens(() => ({ file: file(), busyWaitMs: '5' })), 'it must be a number from 0', /busyWaitMs/],
  [opens(() => ({ file: 'postgres://h/d' })), 'an address postgres://… is given as url', /file/],
  [
    opens(() => ({ url: 'postgres://h/d', connectionsMax: '5' })),
    'it must be a whole number from 1',
    /^Correct connectionsMax/,
  ],
  [serves({ adress: 'x:1' }), 'startWorker has no option adress.', /^Did you mean address\?/],
  [serves({ taskQueue: undefined }), 'The option taskQueue of startWorker is missing', /taskQueue/],
  [serves({ config: {} }), 'it must be what defineConfig gives', /^Correct config/],
  [serves({ serves: 'workflow' }), 'one of workflows, activities', /serves/],
  [serves({ providers: {} }), 'a Map of providers', /providers/],
  [runs(null), 'runWorkerProcess takes an object of options, and got null.', /config/],
  [runs({ confg: config }), 'runWorkerProcess has no option confg.', /^Did you mean config\?/],
  [
    async () =>
      query({ prompt: 'x', options: { agent: 'a', connection: { adress: 'x' } } as never }),
    'connect has no option adress.',
    /^Did you mean address\?/,
  ],
])('what opens nothing is refused with the next step: %#', async (attempt, what, next) => {
  const refused = await attempt().catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'InvalidConfig',
    message: expect.stringContaining(what) as string,
    hint: expect.stringMatching(next) as string,
  });
  expect(readdirSync(folder)).toEqual([]);
});

test('an address that holds a password is not shown where it stands at the wrong place', async () => {
  const refused = await openStore('postgres://me:secret@h/d' as never).catch(String);
  expect(refused).not.toContain('secret');
  expect(await openStore({ file: 'postgres://me:secret@h/d' }).catch(String)).not.toContain(
    'secret',
  );
});

test('what fits, or is left out, is taken: only the server is missing', async () => {
  const store = await openMemoryStore();
  const absent = { apiKey: undefined, sync: undefined };
  await expect(
    connect({ ...nowhere, store, tls: false, ...absent } as never),
  ).rejects.toMatchObject({ code: 'ServerUnavailable' });
  await expect(connect({ ...nowhere, address: '[::1]:9' })).rejects.toMatchObject({
    code: 'ServerUnavailable',
  });
  const opened = await openStore({ file: file(), url: undefined, busyWaitMs: 5 } as never);
  await Promise.all([opened.close(), store.close()]);
});

test('what the environment says of the server is spread into both, as it is', async () => {
  const reach = readEnvironment({ HOLDFAST_ADDRESS: '127.0.0.1:9' }, folder).reach();
  const unreached = { code: 'ServerUnavailable' };
  await expect(connect({ ...reach, connectLimitMs: 300 })).rejects.toMatchObject(unreached);
  await expect(startWorker({ ...worker(), ...reach })).rejects.toMatchObject(unreached);
});
