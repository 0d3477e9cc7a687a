/** Cassettes: what a vendor answered is recorded once and replayed without the vendor. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../../index.js';
import {
  cassette,
  scriptOf,
  startScriptedModel,
  testAgent,
  type ScriptedModel,
} from '../../../testing/index.js';

const KEY = 'sk-ant-api03-very-secret-key-of-the-vendor';
const folder = mkdtempSync(join(tmpdir(), 'holdfast-cassette-'));
const variables = ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'HOLDFAST_CASSETTES', 'SHOP_TOKEN'];
const before = new Map(variables.map((name) => [name, process.env[name]]));
let vendor: ScriptedModel;

beforeAll(async () => {
  vendor = await startScriptedModel({
    script: scriptOf([
      { text: 'I look.', calls: [{ tool: 'orders.read', input: { orderId: 'O-17' } }], chunks: 3 },
      { text: 'The order was delivered.', chunks: 3 },
    ]),
  });
});
afterAll(async () => {
  await vendor.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  process.env['ANTHROPIC_API_KEY'] = KEY;
  process.env['ANTHROPIC_BASE_URL'] = vendor.baseUrl;
});
afterEach(() => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

const readOrder = defineTool({
  name: 'orders.read',
  version: '1',
  effect: 'read',
  input: z.object({ orderId: z.string() }),
  run: () => undefined,
});
const agentSaying = (instructions: string) =>
  defineAgent({
    name: 'orders',
    model: 'anthropic/claude-sonnet-5-5',
    instructions,
    tools: [readOrder],
  });

interface Played {
  readonly record?: boolean;
  readonly status?: string;
  readonly instructions?: string;
  readonly secrets?: readonly (string | undefined)[];
}

function play(
  name: string,
  { record, status = 'delivered', instructions = 'Look.', secrets }: Played = {},
) {
  return testAgent(agentSaying(instructions), {
    goal: 'Where is O-17?',
    model: cassette(join(folder, name), {
      ...(record !== undefined && { record }),
      ...(secrets !== undefined && { secrets }),
    }),
    tools: { 'orders.read': () => ({ status }) },
  });
}

/** As on a machine without the vendor. */
function goOffline(): void {
  delete process.env['ANTHROPIC_API_KEY'];
  process.env['ANTHROPIC_BASE_URL'] = 'http://127.0.0.1:9';
}

test('a run is recorded with the vendor and replayed without it, and both are the same', async () => {
  const recorded = await play('whole.json', { record: true });
  expect(recorded.answer).toBe('The order was delivered.');
  goOffline();
  const replayed = await play('whole.json');
  expect(replayed.calls).toEqual(recorded.calls);
  expect(replayed.transcript).toEqual(recorded.transcript);
  expect(replayed.costMicroUsd).toBe(recorded.costMicroUsd);
});

test('neither the key nor any header of a request is in the file', async () => {
  await play('keyless.json', { record: true });
  const text = readFileSync(join(folder, 'keyless.json'), 'utf8');
  expect(text).toContain('The order was delivered.'.slice(0, 5));
  expect(text).not.toContain(KEY);
  expect(text.toLowerCase()).not.toMatch(/authorization|x-api-key|user-agent|set-cookie/);
});

test('the variable records without a change of the test', async () => {
  process.env['HOLDFAST_CASSETTES'] = 'record';
  await play('by-variable.json');
  delete process.env['HOLDFAST_CASSETTES'];
  goOffline();
  expect((await play('by-variable.json')).stopReason).toBe('completed');
  process.env['HOLDFAST_CASSETTES'] = 'replay';
  expect((await play('by-variable.json')).stopReason).toBe('completed');
});

test('a recording makes the folder that it is written to', async () => {
  await play('new/deep/whole.json', { record: true });
  expect(readdirSync(join(folder, 'new', 'deep'))).toEqual(['whole.json']);
  goOffline();
  expect((await play('new/deep/whole.json')).stopReason).toBe('completed');
});

test('where a recording cannot be written the vendor is not asked', async () => {
  writeFileSync(join(folder, 'no-folder'), '');
  mkdirSync(join(folder, 'is-folder.json'));
  const asked = vendor.requests().length;
  for (const name of ['no-folder/whole.json', 'is-folder.json']) {
    await expect(play(name, { record: true })).rejects.toMatchObject({
      code: 'FileUnusable',
      message: `The cassette cannot be written to ${join(folder, name)}.`,
      hint: expect.stringContaining('Name another file') as unknown,
    });
  }
  expect(vendor.requests()).toHaveLength(asked);
});

test('another word in the variable is refused with those that there are', async () => {
  await play('by-word.json', { record: true });
  process.env['HOLDFAST_CASSETTES'] = 'recrod';
  await expect(play('by-word.json')).rejects.toMatchObject({
    code: 'InvalidFixture',
    message: 'HOLDFAST_CASSETTES is "recrod".',
    hint: 'Say record or replay.',
  });
});

test.each<[string, Played, RegExp]>([
  [
    'the prompt',
    { instructions: 'Look well.' },
    /Request 1 is not on .*: body\.system.*Look.*Look well/s,
  ],
  [
    'what a tool gave',
    { status: 'lost' },
    /Request 2 is not on .*: body\.messages\[2\].*delivered.*lost/s,
  ],
])('another request fails with the first difference: %s', async (_, more, message) => {
  await play('strict.json', { record: true });
  goOffline();
  await expect(play('strict.json', more)).rejects.toThrow(
    expect.objectContaining({ code: 'ReplayDiffers', message: expect.stringMatching(message) }),
  );
});

test('recordings that are left over fail as well', async () => {
  await play('left.json', { record: true });
  goOffline();
  const model = cassette(join(folder, 'left.json'));
  const short = testAgent(agentSaying('Look.'), {
    goal: 'Where is O-17?',
    model,
    budget: { maxTurns: 1 },
    tools: { 'orders.read': () => ({ status: 'delivered' }) },
  });
  await expect(short).rejects.toThrow(/has not made the last 1/);
});

test('a file that would hold a secret is refused whole, and the old one stays', async () => {
  await play('secret.json', { record: true });
  const old = readFileSync(join(folder, 'secret.json'), 'utf8');
  process.env['SHOP_TOKEN'] = 'shop-token-123456';
  const leaks = play('secret.json', { record: true, status: 'shop-token-123456' });
  await expect(leaks).rejects.toThrow(/CaptureRefused|would hold the value of SHOP_TOKEN/);
  const named = play('secret.json', {
    record: true,
    status: 'named-"secret',
    secrets: ['named-"secret'],
  });
  await expect(named).rejects.toThrow(/would hold one of its `secrets`/);
  expect(readFileSync(join(folder, 'secret.json'), 'utf8')).toBe(old);
});

test('the secret of a variable that is not set stands in no file, and keeps no test from its replay', async () => {
  await play('unset.json', { record: true, secrets: ['', process.env['HOLDFAST_UNSET_KEY']] });
  goOffline();
  expect(await play('unset.json', { secrets: ['', 'short', undefined] })).toMatchObject({
    answer: 'The order was delivered.',
  });
  const short = play('short.json', { record: true, secrets: ['short'] });
  await expect(short).rejects.toThrow('The cassette cannot use its secrets.');
});

test('a file that is missing or no cassette is named, with how to record it', async () => {
  await expect(play('none.json')).rejects.toThrow(
    expect.objectContaining({
      code: 'InvalidFixture',
      message: expect.stringMatching(/There is no cassette .*none\.json/),
      hint: 'Record it: HOLDFAST_CASSETTES=record, with the keys of the vendor.',
    }),
  );
  writeFileSync(join(folder, 'broken.json'), '{"cassette": 1, "exchanges": [{}]}');
  await expect(play('broken.json')).rejects.toThrow(/broken\.json is no cassette: exchanges\.0/);
});

test('a recording that no vendor answers is refused, and the old one stays', async () => {
  await play('kept.json', { record: true });
  const old = readFileSync(join(folder, 'kept.json'), 'utf8');
  goOffline();
  process.env['ANTHROPIC_API_KEY'] = KEY;
  await expect(play('kept.json', { record: true })).rejects.toMatchObject({
    code: 'CaptureRefused',
    message: expect.stringContaining('No vendor has answered, so the cassette') as unknown,
  });
  expect(readFileSync(join(folder, 'kept.json'), 'utf8')).toBe(old);
});

test('a recording without access to the vendor names the variable that is missing', async () => {
  goOffline();
  await expect(play('no-key.json', { record: true })).rejects.toMatchObject({
    code: 'ModelKeyMissing',
    message: 'The model anthropic/claude-sonnet-5-5 needs access to anthropic.',
    hint: 'Set ANTHROPIC_API_KEY where the cassette is recorded.',
  });
  const agent = defineAgent({ name: 'orders', model: 'shop/small', instructions: 'Look.' });
  const config = defineConfig({
    agents: [agent],
    endpoints: [
      { name: 'shop', protocol: 'chat', baseUrl: vendor.baseUrl, keyVariable: 'SHOP_TOKEN' },
    ],
    unknownModels: { prices: 'zero' },
  });
  const model = cassette(join(folder, 'no-token.json'), { record: true });
  await expect(testAgent(agent, { goal: 'Look.', model, config })).rejects.toMatchObject({
    hint: 'Set SHOP_TOKEN where the cassette is recorded.',
  });
});
