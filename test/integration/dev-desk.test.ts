/** The desk of `holdfast dev`: decisions at it are signed, and `--as` works beside it until the desk gets a key. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startDesk } from '../../cli/desk/desk.js';
import { createOutput } from '../../cli/terminal/output.js';
import { runCli } from '../../cli/program.js';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { RunHandle } from '../../client/index.js';
import { ALL_TENANTS } from '../../store/desk-keys.js';
import { readEnvironment } from '../../worker/config.js';
import { PATIENT } from './support/patience.js';
import { call, openAsk, say, startWorld, type World } from './support/world.js';

let world: World;
let home: string;
beforeAll(async () => {
  world = await startWorld();
  home = join(world.storePlace, '..');
});
afterAll(() => world.stop());

const agent = defineAgent({ name: 'a', model: 'scripted/x', instructions: 'Help.' });

const environmentOf = () => ({
  variables: {},
  folder: home,
  colour: false,
  interactive: false,
  ...PATIENT,
});

/** Runs a desk on a data folder for a moment, and gives what it remarked. */
async function runDesk(folder: string, makeKey: boolean): Promise<string> {
  const variables = { HOLDFAST_HOME: folder, HOLDFAST_STORE: world.storePlace };
  let err = '';
  const streams = { out: () => undefined, err: (text: string) => void (err += text) };
  const place = readEnvironment(variables, home);
  const desk = {
    place,
    reach: world.place,
    config: defineConfig({ agents: [agent], console: { port: 0 } }),
    makeKey,
  };
  const output = createOutput(streams, { json: false, colour: false });
  await (await startDesk(environmentOf(), desk, output)).stop();
  return err;
}

async function holdfast(...words: readonly string[]) {
  let err = '';
  const streams = { out: () => undefined, err: (text: string) => void (err += text) };
  const place = [
    '--address',
    world.place.address,
    '--namespace',
    world.place.namespace,
    '--store',
    world.storePlace,
    '--home',
    home,
  ];
  const code = await runCli([...words, ...place], { environment: environmentOf(), streams });
  return { code, err };
}

const inDoubt = (runId: string) =>
  world.start({ runId, replies: [call('odd.pay', { how: 'throws' }), say('Finished.')] });

test('`--as` works beside it, and no more once the desk has a key of its own', async () => {
  expect(await runDesk(home, true)).toBe('');
  expect(existsSync(join(home, 'dev-desk-key.json'))).toBe(true);
  expect(existsSync(join(home, 'desk-key.json'))).toBe(false);
  expect(await world.store.deskKeys(ALL_TENANTS)).toHaveLength(1);
  const [first, second] = [await inDoubt('developing'), await inDoubt('in-earnest')];
  const stop = async (run: RunHandle) =>
    holdfast('answer', (await openAsk(run)).askId, 'stop', '--as', 'mia');
  expect(await stop(first)).toMatchObject({ code: 0 });
  await world.ended(first);

  const created = await holdfast('keys', 'create');
  expect(created.code).toBe(0);
  expect(created.err).toMatch(/key of development still counts.*keys revoke .*dk_/);
  expect(await stop(second)).toMatchObject({
    code: 2,
    err: expect.stringContaining('HOLDFAST_TOKEN'),
  });
  await second.interrupt();
  await world.ended(second);
});

test('a desk that is none of development never signs with the key of that', async () => {
  const folder = join(home, 'other');
  await mkdir(folder);
  await runDesk(folder, true);
  expect(await runDesk(folder, false)).toMatch(/The desk has no key: decisions are not signed/);
});

test('a key of development that was revoked is put aside, and the desk has a new one', async () => {
  const folder = join(home, 'revoked');
  await mkdir(folder);
  await runDesk(folder, true);
  const [made] = await world.store.deskKeys(ALL_TENANTS);
  const revoked = { tenant: ALL_TENANTS, kid: made!.kid, at: Date.now(), by: 'mia' };
  await world.store.changeDeskKey({ ...revoked, to: 'revoked' });
  expect(await runDesk(folder, true)).toContain(
    `${made!.kid} was revoked: this desk has a new one`,
  );
  expect(existsSync(join(folder, `dev-desk-key.json.${made!.kid}`))).toBe(true);
  const keys = await world.store.deskKeys(ALL_TENANTS);
  expect(keys.map(({ kid }) => kid)).not.toContain(made!.kid);
  expect(await runDesk(folder, true)).toBe('');
});
