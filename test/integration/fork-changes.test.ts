/** Live forks under another definition, from code, and of files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forkRun, type ForkRunOptions } from '../../index.js';
import { bundleText } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { replayRun } from '../../replay/strict-replay.js';
import { compiledPath } from '../compiled.js';
import { decided, exported, forked, holdfast, recordOf, type Recorded } from './support/forking.js';
import { ANY_RUN, pay, read, say, startWorld, type World } from './support/world.js';

const SCRIPT = [read('item'), pay('pay.keyed'), say('Paid.')];

let world: World;
/** Another store, another namespace: it has nothing of the runs of `world`. */
let elsewhere: World;
let folder: string;
let parent: Recorded;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-fork-changes-'));
  [world, elsewhere] = await Promise.all([startWorld(), startWorld()]);
  for (const one of [world, elsewhere]) one.script(ANY_RUN, SCRIPT);
  await world.ended(await world.start({ runId: 'parent', replies: SCRIPT }));
  parent = await recordOf(world, 'parent');
});
afterAll(async () => {
  await Promise.all([world.stop(), elsewhere.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The first step whose effects have this, and before which nothing was paid. */
function stepOf(kind: string, nth = 1): number {
  return parent.fold.steps.filter(({ effects }) => effects.some((one) => one.kind === kind))[
    nth - 1
  ]!.step;
}

function asked(where: World, runId: string): string {
  return JSON.stringify(where.requests(runId).at(-1)?.body ?? '');
}

test('a live fork goes on under other instructions, and replays', async () => {
  const prompt = file('prompt.md', 'Pay nothing that was paid.');
  const at = `${stepOf('call_model', 2)}`;
  const runId = await forked(world, 'parent', '--at', at, '--instructions', prompt);
  await decided(world, world.client.handle(runId), 'reject');
  expect(asked(world, runId)).toContain('Pay nothing that was paid.');
  expect(world.service.visits(runId, 'effect')).toEqual([]);
  expect(await replayRun(await exported(world, runId))).toMatchObject({ equal: true });
});

test('a live fork has prompt, tools and policy of a configuration, and the tool that is named', async () => {
  const config = file(
    'holdfast.config.mjs',
    `import { defineAgent, defineConfig } from ${JSON.stringify(compiledPath('index.js'))};
import * as agents from ${JSON.stringify(compiledPath('test/integration/support/agents.js'))};
const { tools } = (agents.default ?? agents).config({ serviceUrl: 'http://127.0.0.1:9' });
export default { ...defineConfig({ agents: [defineAgent({ name: 'desk', model: 'scripted/model', instructions: 'By the configuration.',
  tools: [tools.get('facts.read@1')] })] }), tools };`,
  );
  const at = `${stepOf('call_model', 2)}`;
  const bound = await forked(world, 'parent', '--at', at, '--config', config);
  await decided(world, world.client.handle(bound), 'approve');
  expect(asked(world, bound)).toContain('By the configuration.');
  // The agent of this configuration cannot pay at all.
  expect(world.service.visits(bound, 'effect')).toEqual([]);
  const words = ['--config', config, '--tool', 'pay.keyed@1'];
  const paying = await forked(world, 'parent', '--at', at, ...words);
  const questions = await decided(world, world.client.handle(paying), 'approve');
  expect(questions).toMatchObject([{ tool: 'pay.keyed', repeats: { earlier: [{}] } }]);
  expect(world.service.visits(paying, 'effect')).toHaveLength(1);
  expect(await replayRun(await exported(world, paying))).toMatchObject({ equal: true });
});

test('a run is forked from code: what it did asks first, and the words of the user are heard', async () => {
  const at = stepOf('call_model', 2);
  const wanted = { store: world.store, runId: 'parent', at, forkId: 'from-code' };
  const fork = await forkRun(world.client, { ...wanted, message: 'One order was paid twice.' });
  expect(fork).toMatchObject({ runId: 'from-code', tenant: 'default' });
  const words = { message: 'One order was paid twice.' };
  expect(await forkRun(world.client, { ...wanted, ...words })).toMatchObject({
    runId: 'from-code',
  });
  for (const other of [{ message: 'Pay all of them.' }, { ...words, forkId: 'parent' }]) {
    const refused = forkRun(world.client, { ...wanted, ...other });
    await expect(refused).rejects.toMatchObject({ code: 'RunExists' });
  }
  expect(await world.store.getFork('default', 'parent')).toBeUndefined();
  const questions = await decided(world, fork, 'reject');
  const done = expect.objectContaining({ runId: 'parent', state: 'done' }) as object;
  expect(questions).toMatchObject([
    { tool: 'pay.keyed', repeats: { earlier: expect.arrayContaining([done]) as object } },
  ]);
  expect(asked(world, 'from-code')).toContain('One order was paid twice.');
  expect(world.service.visits('from-code', 'effect')).toEqual([]);
  const own = await exported(world, 'from-code');
  expect(own.events[0]).toMatchObject({ forked: { runId: 'parent', step: at } });
  expect(await replayRun(own)).toMatchObject({ equal: true });
  await expect(forkRun(world.client, wanted)).rejects.toMatchObject({ code: 'RunExists' });
});

test('a fork from code has the instructions and the policy that are given', async () => {
  const fork = await forkRun(world.client, {
    store: world.store,
    runId: 'parent',
    at: stepOf('call_model', 2),
    instructions: 'Pay nothing at all.',
    policy: { rules: [{ tool: 'pay.keyed', decision: 'deny' }] },
    budget: { maxTurns: 9 },
    rules: 'newest',
    wait: false,
  });
  expect(await decided(world, fork, 'approve')).toEqual([]);
  expect(asked(world, fork.runId)).toContain('Pay nothing at all.');
  expect(world.service.visits(fork.runId, 'effect')).toEqual([]);
});

test.each<[string, Partial<ForkRunOptions>, string]>([
  ['the end of a run', { at: 'last' }, 'ForkRefused'],
  ['its beginning', { at: 1 }, 'ForkRefused'],
  ['a step that there is not', { at: 999 }, 'StepNotFound'],
  ['a result of a call that is not at hand', { results: { other: 'paid' } }, 'ForkRefused'],
  ['a tool without a configuration', { tool: 'pay.keyed@2' }, 'InvalidConfig'],
  ['a run that there is not', { runId: 'nobodys' }, 'RunNotFound'],
])('no fork from code begins with %s', async (_, given, code) => {
  const at = stepOf('call_model', 2);
  const wanted = { store: world.store, runId: 'parent', at, ...given };
  await expect(forkRun(world.client, wanted)).rejects.toMatchObject({ code });
});

test('a client of another tenant forks no run of this one', async () => {
  const wanted = { store: world.store, runId: 'parent', at: stepOf('call_model', 2) };
  const forking = forkRun(world.client.forTenant('acme'), wanted);
  await expect(forking).rejects.toMatchObject({ code: 'RunNotFound' });
});

test('a file is forked live where nothing is known of its run: what stands in it asks first', async () => {
  const bundle = file('parent.json', bundleText(parent.bundle));
  const at = `${stepOf('call_model', 2)}`;
  const [call] = world.service.visits('parent', 'effect');
  for (const decision of ['reject', 'approve'] as const) {
    const runId = await forked(elsewhere, bundle, '--at', at);
    const questions = await decided(elsewhere, elsewhere.client.handle(runId), decision);
    expect(questions[0]).toMatchObject({
      tool: 'pay.keyed',
      repeats: {
        earlier: expect.arrayContaining([
          expect.objectContaining({ key: call!.key, state: 'done' }),
        ]),
      },
    });
    expect(elsewhere.service.visits(runId, 'effect')).toHaveLength(decision === 'approve' ? 1 : 0);
    // What was read before the step is in the conversation.
    expect(asked(elsewhere, runId)).toContain('it is blue');
    expect(await replayRun(await exported(elsewhere, runId))).toMatchObject({ equal: true });
  }
  const shown = await holdfast(
    elsewhere,
    'show',
    (await elsewhere.store.forksOf('default', 'parent', 9))[0]!.runId,
  );
  expect(shown.out).toContain(`a fork of parent after step ${at}`);
});

test('a redacted bundle, and one of another tenant, are forked dry only', async () => {
  const hidden = { rule: 'r', markers: ['x'], places: ['/events'], count: 1 };
  const redacted = file('redacted.json', bundleText({ ...parent.bundle, redactions: [hidden] }));
  const at = `${stepOf('call_model', 2)}`;
  const refused = await holdfast(elsewhere, 'fork', redacted, '--at', at, '--live');
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('forked dry only')]);
  const start = { agent: 'desk', task: { goal: 'Pay.' }, tenant: 'acme', runId: 'foreign' };
  await (await world.client.start(start)).result();
  const reach = { ...world.place, store: world.store };
  const other = file(
    'other.json',
    bundleText(await exportRun(reach, { tenant: 'acme', runId: 'foreign' })),
  );
  const foreign = await holdfast(elsewhere, 'fork', other, '--at', at, '--live');
  expect([foreign.code, foreign.out]).toEqual([1, expect.stringContaining('the tenant acme')]);
});
