/** A client that has been closed says so at once, and is taken for no outage. */
import { connect } from '../../client/index.js';
import { AGENT } from './support/agents.js';
import { pay, startWorld, until, type World } from './support/world.js';

let world: World;
beforeAll(async () => void (world = await startWorld()));
afterAll(() => world.stop());

const CLOSED = {
  code: 'Usage',
  message: 'The client has been closed.',
  hint: 'Connect again before using it.',
};

test('a call after the closing is told of it, in whatever way it would ask', async () => {
  const run = await world.start({ runId: 'closing', replies: [pay('pay.asked')] });
  await until('the question', async () => (await run.pendingApprovals())[0]);
  const client = await connect({ ...world.place, ...world.patience, store: world.store });
  const said = (error: unknown) => error;
  await client.handle('closing').state();
  await client.close();
  const later = await Promise.all([
    client.start({ agent: AGENT, task: 'x' }).catch(said),
    client.handle('closing').state().catch(said),
    client.handle('closing').result().catch(said),
    client.forTenant('other').start({ agent: AGENT, task: 'x', wait: false }).catch(said),
  ]);
  for (const one of later) expect(one).toMatchObject(CLOSED);
  await client.close();
  await run.interrupt();
  await world.ended(run);
});

test('a start that is under way at the closing names its run, which may have been started', async () => {
  const client = await connect({ ...world.place, ...world.patience, store: world.store });
  const start = { runId: 'begun', agent: 'nobody', task: 'x', wait: true };
  const told = client.start(start).catch((error: unknown) => error);
  const run = world.client.handle('begun');
  await until('the run', () => run.execution().catch(() => undefined));
  await client.close();
  expect(await told).toMatchObject({
    code: 'Usage',
    message: 'The client has been closed. What was under way may have been done.',
    hint: 'Connect again, and look at run begun before it is said again.',
    details: { closed: true, runId: 'begun' },
  });
  await run.cancel();
});
