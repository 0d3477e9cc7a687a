/** Commands of a person with a token: they reach the desk, which signs what they decide. */
import { runCli } from '../../cli/program.js';
import { AGENT } from './support/agents.js';
import { sceneOf, type Scene } from './support/open-question.js';
import { idOf, startDesk, tokenOf, type Name, type TestDesk } from './support/desk.js';
import { PATIENT } from './support/patience.js';
import { call, ofType, pay, say, startWorld, until, type World } from './support/world.js';

let world: World;
let desk: TestDesk;
let scene: Scene;
beforeAll(async () => {
  world = await startWorld();
  desk = await startDesk(world);
  scene = sceneOf(world, desk);
});
afterAll(async () => {
  await desk?.stop();
  await world.stop();
});

/** Without the store and without Temporal: the token is all that they have. */
function holdfast(as: Name, ...words: readonly string[]) {
  return command(words, { HOLDFAST_TOKEN: tokenOf(as), HOLDFAST_DESK_URL: desk.url });
}

async function command(
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
  heard: (out: string) => void = () => undefined,
) {
  let out = '';
  let err = '';
  const code = await runCli(words, {
    environment: { variables, folder: '/nowhere', colour: false, interactive: false, ...PATIENT },
    streams: { out: (text) => heard((out += text)), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

test('a person sees what waits, and approves it with a proof that the run believes', async () => {
  const { run, ask } = await scene.asked('told-to');
  const listed = await holdfast('mia', 'approvals', '--run', 'told-to', '--json');
  expect(JSON.parse(listed.out)).toMatchObject({
    asks: [{ askId: ask.askId, rolesNow: ['manager'], args: { amountCents: 500 } }],
  });
  expect(await holdfast('mia', 'approve', 'told-to')).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      `There is no question told-to.\nThe run told-to asks ${ask.askId}: name one of them.`,
    ),
  });
  const refused = await holdfast('clerk', 'approve', ask.askId);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('manager') });
  const { code, out } = await holdfast('mia', 'approve', ask.askId, '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ delivered: 'update', verdict: { outcome: 'approved' } });
  const theirs = await holdfast('bob', 'approve', ask.askId);
  expect(theirs).toMatchObject({ code: 1 });
  expect(theirs.err).toMatch(/nothing here for you[^]*holdfast approvals[^]*holdfast whoami/);
  await world.ended(run);
  expect(scene.effects('told-to')).toHaveLength(1);
  expect((await scene.rowsOf('told-to', 'decided')).map(({ by }) => by)).toEqual([
    idOf('clerk'),
    idOf('mia'),
  ]);
  const ended = await holdfast('mia', 'approvals', '--all', '--run', 'told-to');
  expect(ended.out).toContain('approved');
});

test('the commands below a question are those of whoever reads it, and they work', async () => {
  const { run, ask } = await scene.asked('hinted');
  const hintIn = (out: string) => /holdfast (approve .*hinted.*)$/m.exec(out)?.[1] ?? '';
  const listed = (variables: Readonly<Record<string, string>>, ...words: string[]) =>
    command(['approvals', '--run', 'hinted', ...words], variables);
  const { place, storePlace } = world;
  const here = ['--address', place.address, '--store', storePlace];

  const mine = await listed({ HOLDFAST_TOKEN: tokenOf('mia') }, '--desk', desk.url);
  const hint = hintIn(mine.out);
  expect(hint).toBe(`approve --desk ${desk.url} ${ask.askId}`);
  // Where people are told apart a name proves nothing.
  const nobody = await listed({ HOLDFAST_DESK_KEY: '/keys/desk.json' }, ...here);
  expect(hintIn(nobody.out)).toBe(`approve ${here.join(' ')} ${ask.askId}`);
  expect(nobody.err).toContain('set HOLDFAST_TOKEN to your token of the approval desk');
  expect(await command(hint.split(' '), { HOLDFAST_TOKEN: tokenOf('mia') })).toMatchObject({
    code: 0,
    err: '',
  });
  await world.ended(run);

  world.script('hinted-at-start', [pay('pay.asked'), say('Finished.')]);
  const started = await command(
    [
      'start',
      AGENT,
      'Serve.',
      '--run-id',
      'hinted-at-start',
      ...here,
      '--namespace',
      place.namespace,
    ],
    { HOLDFAST_DESK_KEY: '/keys/desk.json' },
  );
  expect(started).toMatchObject({ code: 4, err: expect.stringContaining('set HOLDFAST_TOKEN') });
  const [address, store] = [here.slice(0, 2).join(' '), here.slice(2).join(' ')];
  const there = `approve ${address} --namespace ${place.namespace} ${store} `;
  expect(hintIn(started.out).slice(0, there.length)).toBe(there);
  expect(hintIn(started.out).slice(there.length)).toMatch(/^\S+$/);

  let seen = '';
  const watching = command(
    ['watch', 'hinted-at-start', ...here, '--namespace', place.namespace],
    { HOLDFAST_DESK_KEY: '/keys/desk.json' },
    (out) => (seen = out),
  );
  await until('the card of what is watched', () => hintIn(seen) || undefined);
  expect(hintIn(seen)).toBe(hintIn(started.out));
  await command(hintIn(seen).split(' '), {
    HOLDFAST_TOKEN: tokenOf('mia'),
    HOLDFAST_DESK_URL: desk.url,
  });
  expect(await watching).toMatchObject({
    code: 0,
    err: expect.stringContaining('set HOLDFAST_TOKEN'),
  });
});

test('what waits is found by what stands in it, page by page, and shows what it rests on', async () => {
  const { run, ask } = await scene.asked('searched-for');
  const found = await holdfast('mia', 'inbox', '--search', 'SEARCHED-', '--json');
  expect(JSON.parse(found.out)).toMatchObject({ asks: [{ askId: ask.askId }] });
  const byCost = await holdfast('mia', 'list', '--sort', 'cost', '--limit', '1');
  expect(byCost.err).toContain('More runs fit: --limit shows up to');
  const page = await holdfast('mia', 'approvals', '--all', '--limit', '1', '--json');
  const { asks, next } = JSON.parse(page.out) as { asks: { askId: string }[]; next: string };
  expect(asks).toHaveLength(1);
  const rest = await holdfast('mia', 'approvals', '--all', '--cursor', next, '--json');
  expect(rest.out).not.toContain(`"askId":"${asks[0]?.askId}"`);
  const grounds = await holdfast('mia', 'grounds', ask.askId, '--json');
  expect(JSON.parse(grounds.out)).toMatchObject({
    ask: { askId: ask.askId },
    votes: [],
    grounds: { goal: { text: 'Serve the customer.' } },
  });
  // The token says who decides.
  const shown = await holdfast('mia', 'grounds', ask.askId);
  expect(shown.out).toContain(`approve ${ask.askId}`);
  expect(shown.out).not.toContain('--as');
  expect((await holdfast('bob', 'grounds', ask.askId)).code).toBe(1);
  await run.interrupt();
  await world.ended(run);
});

test('a run, its conversation, its trail and the person themselves are told by the desk alone', async () => {
  const { run, ask } = await scene.asked('looked-at');
  const open = await holdfast('mia', 'show', 'looked-at', '--json');
  expect(JSON.parse(open.out)).toMatchObject({
    run: { status: 'awaiting_approval', goalPreview: 'Serve the customer.' },
    state: { status: 'awaiting_approval' },
    asks: [{ askId: ask.askId }],
  });
  expect((await holdfast('mia', 'show', 'looked-at')).out).toContain(ask.askId);
  expect((await holdfast('mia', 'transcript', 'looked-at')).code).toBe(1);
  await holdfast('mia', 'approve', ask.askId);
  const { result } = await world.ended(run);
  const shown = await holdfast('mia', 'show', 'looked-at');
  expect(shown.out).toContain(result.stopReason);
  expect((await holdfast('mia', 'transcript', 'looked-at')).out).toContain('Finished.');
  for (const command of ['show', 'transcript']) {
    const others = await holdfast('bob', command, 'looked-at', '--json');
    expect(JSON.parse(others.out)).toMatchObject({ error: { code: 'RunNotFound' } });
  }
  const cost = String(result.costMicroUsd);
  const costly = await holdfast('mia', 'list', '--cost-from', cost, '--cost-to', cost, '--json');
  expect(costly.out).toContain('"runId":"looked-at"');
  const trail = await holdfast('ann', 'audit', 'list', '--run', 'looked-at', '--json');
  expect((JSON.parse(trail.out) as { rows: unknown[] }).rows).toEqual(
    await scene.trail('looked-at'),
  );
  expect(JSON.parse((await holdfast('ann', 'audit', 'head')).out)).toMatchObject({
    tenant: 'default',
    kid: desk.signer.key.kid,
  });
  expect((await holdfast('mia', 'audit', 'list')).code).toBe(1);
  const me = await holdfast('mia', 'whoami', '--json');
  expect(JSON.parse(me.out)).toMatchObject({ id: idOf('mia'), roles: ['manager'] });
});

test('a correction and a replacement travel the same way', async () => {
  const modified = await scene.asked('corrected');
  const args = JSON.stringify({ order: 'A1', amountCents: 200 });
  expect(await holdfast('mia', 'modify', modified.ask.askId, '--args', args)).toMatchObject({
    code: 0,
  });
  const replaced = await scene.asked('replaced');
  const note = JSON.stringify({ item: 'call back' });
  const words = ['--tool', 'notes.write', '--args', note];
  expect(await holdfast('mia', 'replace', replaced.ask.askId, ...words)).toMatchObject({ code: 0 });
  const { events } = await world.ended(modified.run);
  expect(ofType(events, 'tool_started')).toMatchObject([{ args: { amountCents: 200 } }]);
  const other = await world.ended(replaced.run);
  expect(ofType(other.events, 'tool_started')).toMatchObject([{ tool: 'notes.write' }]);
});

test('a question of another tenant is not there', async () => {
  const { run, ask } = await scene.asked('of-others');
  const { code, err } = await holdfast('bob', 'approve', ask.askId);
  expect(code).toBe(1);
  expect(err).not.toContain('of-others');
  expect((await holdfast('bob', 'approvals', '--json')).out).not.toContain('of-others');
  await run.interrupt();
  await world.ended(run);
  expect(scene.effects('of-others')).toEqual([]);
});

test('a clarifying question is answered by whoever the token names', async () => {
  const run = await world.start({
    runId: 'clarified',
    replies: [call('ask_person', { question: 'Which colour?' }), say('Blue then.')],
  });
  const ask = await until('the question', async () =>
    (await world.store.listAsks('default', { runId: 'clarified', limit: 5 })).at(0),
  );
  expect(await holdfast('mia', 'answer', ask.askId, 'blue')).toMatchObject({ code: 0 });
  const { events } = await world.ended(run);
  expect(ofType(events, 'input_provided')).toMatchObject([{ by: [idOf('mia')] }]);
});

test('runs are listed, told something and stopped, each by its own tenant', async () => {
  const { run } = await scene.asked('run-by-token');
  const listed = await holdfast('mia', 'list', '--status', 'awaiting_approval', '--json');
  expect(JSON.parse(listed.out)).toMatchObject({
    runs: expect.arrayContaining([expect.objectContaining({ runId: 'run-by-token' })]),
  });
  expect((await holdfast('bob', 'list', '--json')).out).not.toContain('run-by-token');
  expect((await holdfast('bob', 'interrupt', 'run-by-token')).code).toBe(1);
  expect((await holdfast('mia', 'message', 'run-by-token', 'Please hurry')).code).toBe(0);
  expect((await holdfast('mia', 'interrupt', 'run-by-token')).code).toBe(0);
  const { result } = await world.ended(run);
  expect(result.stopReason).toBe('interrupted');
  const kinds = (await scene.trail('run-by-token')).map(({ kind, by }) => [kind, by]);
  expect(kinds).toEqual(
    expect.arrayContaining([
      ['message_sent', idOf('mia')],
      ['interrupted', idOf('mia')],
    ]),
  );
});

test('freezing, looking and lifting', async () => {
  const set = await holdfast('mia', 'freeze', '--tool', 'pay.*', '--reason', 'wave', '--json');
  const { freeze } = JSON.parse(set.out) as { freeze: { id: string } };
  expect(freeze).toMatchObject({ by: idOf('mia'), inForce: true });
  const run = await world.start({
    runId: 'frozen',
    replies: [pay('pay.blind'), say('It is frozen.')],
  });
  const { events } = await world.ended(run);
  expect(ofType(events, 'tool_finished')).toMatchObject([{ code: 'frozen' }]);
  expect((await holdfast('bob', 'freeze', '--list')).out).toContain('Nothing was ever frozen');
  expect((await holdfast('bob', 'freeze', '--lift', freeze.id)).code).toBe(1);
  expect((await holdfast('ann', 'freeze', '--lift', freeze.id)).code).toBe(0);
  expect((await holdfast('mia', 'freeze', '--list')).out).toMatch(/no +tool pay\.\*/);
  const rows = await world.store.readAudit('default', { limit: 1_000 });
  const told = rows.filter(({ kind }) => kind === 'frozen' || kind === 'thawed');
  expect(told.map(({ kind, by }) => [kind, by])).toEqual([
    ['frozen', idOf('mia')],
    ['thawed', idOf('ann')],
  ]);
  expect((await holdfast('mia', 'effects', '--order', 'A1')).code).toBe(0);
});
