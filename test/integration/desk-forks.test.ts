/** Forks over the desk: played without effects, then started; whoever forks decides nothing in the fork. */
import { deskForks } from '../../cli/desk/desk-forks.js';
import { foldOf } from '../../recording/fold.js';
import { createAnthropicProvider } from '../../testing/index.js';
import { config } from './support/agents.js';
import { idOf, newKey, startDesk, type TestDesk } from './support/desk.js';
import { exported, holdfast } from './support/forking.js';
import { ANY_RUN, ofType, pay, read, say, startWorld, until, type World } from './support/world.js';

const SCRIPT = [read('item'), pay('pay.keyed'), say('Paid.')];
const FORKS = '/v1/runs/parent/forks';

let world: World;
let forks: ReturnType<typeof deskForks>;
let desk: TestDesk;
let step: number;
beforeAll(async () => {
  world = await startWorld();
  world.script(ANY_RUN, SCRIPT);
  const provider = createAnthropicProvider({ apiKey: 'scripted', baseUrl: world.model.baseUrl });
  forks = deskForks({
    client: world.client,
    reach: world.place,
    store: world.store,
    config: config({ serviceUrl: world.service.url }),
    providers: () => Promise.resolve(new Map([[provider.name, provider]])),
  });
  desk = await startDesk(world, {
    console: { access: { audit: ['auditor'], start: ['manager'] }, starts: { maxCostUsd: 5 } },
    forks,
  });
  await world.ended(await world.start({ runId: 'parent', replies: SCRIPT }));
  const fold = foldOf(await exported(world, 'parent'));
  const asking = fold.steps.filter(({ effects }) =>
    effects.some(({ kind }) => kind === 'call_model'),
  );
  step = asking[1]!.step;
});
afterAll(async () => {
  await desk.stop();
  await world.stop();
});

test('a fork is played dry: what would be executed and repeats is told, and nothing happens', async () => {
  const dry = await desk.post(`${FORKS}/dry`, { step, message: 'Look again.' });
  expect(dry).toMatchObject({
    status: 200,
    body: {
      runId: 'parent',
      step,
      stopReason: 'completed',
      wouldExecute: [{ tool: 'pay.keyed', asks: false, repeats: {} }],
    },
  });
  expect(world.service.visits('parent', 'effect')).toHaveLength(1);
});

test('a fork is started once for each key, is in the trail and in lists, and is not for the person to decide who made it', async () => {
  const key = newKey();
  const body = { step, instructions: 'Ask before you pay.', maxCostMicroUsd: 100_000 };
  const [first, again] = [
    await desk.post(FORKS, body, { key }),
    await desk.post(FORKS, body, { key }),
  ];
  expect(first).toMatchObject({
    status: 200,
    body: { forked: { runId: 'parent', step }, state: 'open' },
  });
  expect(again.body).toEqual(first.body);
  const { runId } = first.body as { runId: string };
  const asked = await until('the question', async () => {
    const [one] = ofType(await world.events(runId), 'approval_requested');
    return one;
  });
  expect(asked).toMatchObject({ tool: 'pay.keyed', repeats: { earlier: [{}] } });
  const own = await desk.post(
    `/v1/approvals/${encodeURIComponent(asked.askId)}/decisions`,
    { decision: 'approve', argsHash: asked.argsHash },
    { key: newKey() },
  );
  expect([own.status, own.body?.['code']]).toEqual([403, 'own_request']);
  expect((await desk.get(`/v1/runs?forksOf=parent`)).body).toMatchObject({
    items: [{ runId, forked: { runId: 'parent', step }, caller: idOf('mia') }],
  });
  expect((await desk.get('/v1/runs/parent')).body).toMatchObject({ forks: [{ runId, step }] });
  const { out } = await holdfast(world, 'show', 'parent');
  expect(out).toContain(`forked after step ${step}: ${runId}`);
  const listed = await holdfast(world, 'list', '--forks-of', 'parent');
  expect(JSON.parse(listed.out)).toMatchObject({ runs: [{ runId, forked: { step } }] });
  const trail = await desk.get('/v1/audit?runId=parent', 'ann');
  expect(trail.text).toContain('run_forked');
  expect(trail.text).toContain(runId);
  await world.client.handle(runId).interrupt();
  await world.client.handle(runId).result();
  expect(world.service.visits(runId, 'effect')).toEqual([]);
});

test('a start that was lost is made again with the state that was written, also where the record says more by now', async () => {
  const tenant = 'default';
  const wanted = { tenant, runId: 'parent', step, caller: 'mia' };
  await forks.live({ ...wanted, forkId: 'whole', message: 'Now.' });
  const { body } = (await world.store.getFork(tenant, 'whole'))!;
  const row = {
    tenant,
    runId: 'lost',
    parent: 'parent',
    step,
    body: body.replace('Now.', 'Before.'),
  };
  await world.store.putFork({ ...row, at: 1 });
  await forks.live({ ...wanted, forkId: 'lost', message: 'Now.' });
  expect(ofType(await world.events('lost'), 'session_init')).toHaveLength(1);
  for (const runId of ['whole', 'lost']) {
    await world.client.handle(runId).interrupt();
    await world.client.handle(runId).result();
  }
  // An id that something else has is no fork of this step.
  await expect(forks.live({ ...wanted, forkId: 'parent' })).rejects.toMatchObject({
    code: 'RunExists',
  });
});

test('whoever may not start, another tenant, an impossible step and a desk without forks are refused', async () => {
  const post = (as: 'clerk' | 'bob' | 'mia', at: number, path = FORKS) =>
    desk.post(path, { step: at }, { as, key: newKey() });
  expect((await post('clerk', step)).status).toBe(403);
  expect((await post('bob', step)).status).toBe(404);
  expect((await post('mia', 1)).body).toMatchObject({ code: 'not_forked' });
  expect((await post('mia', 999_999)).status).toBe(400);
  expect((await post('mia', 1, `${FORKS}/dry`)).body).toMatchObject({ code: 'not_forked' });
  const bare = await startDesk(world, { console: { access: { start: ['manager'] } } });
  const none = await bare.post(FORKS, { step }, { key: newKey() });
  expect([none.status, none.body?.['code']]).toEqual([409, 'not_startable']);
  await bare.stop();
});
