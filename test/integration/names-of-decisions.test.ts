/** A name of a decision (`--id`) that is used more than once: it names what one person says, on a real server. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { call, openAsk, say, startWorld, type World } from './support/world.js';

const LIMIT_MS = 180_000;
const NONCE = 'dec-2222';

const paid: unknown[] = [];
const pay = defineTool({
  name: 'pay.twice_approved',
  version: '1',
  effect: 'financial',
  idempotency: 'keyed',
  approval: { roles: ['lead'], quorum: 2 },
  input: z.object({ amount: z.number() }),
  run: (args) => {
    paid.push(args);
    return { ok: true };
  },
});

let world: World;
let end: () => Promise<void>;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  const agents = [
    defineAgent({ name: 'desk', model: 'scripted/model', instructions: 'Serve.', tools: [pay] }),
  ];
  const worker = await world.serve({ config: defineConfig({ agents }) });
  const served = worker.run();
  end = async () => {
    worker.shutdown();
    await served;
  };
}, LIMIT_MS);
afterAll(async () => {
  await end();
  await world.stop();
});

async function asked(runId: string) {
  const replies = [call('pay.twice_approved', { amount: 5 }), say('Done.')];
  const run = await world.start({ runId, agent: 'desk', replies });
  const { askId } = await openAsk(run);
  const says = (by: string, decision: 'approve' | 'reject') =>
    run.decideOn({ askId, decision, by, roles: ['lead'], nonce: NONCE });
  return { run, askId, says };
}

test(
  'two people who use one name are two people: both approvals count',
  async () => {
    const { run, says } = await asked('both');
    expect(await says('ana', 'approve')).toMatchObject({ verdict: { outcome: 'pending' } });
    expect(await says('bob', 'approve')).toMatchObject({ verdict: { outcome: 'approved' } });
    expect((await world.ended(run)).result.completed).toBe(true);
    expect(paid).toHaveLength(1);
  },
  LIMIT_MS,
);

test(
  'a rejection under the name of another person counts, and is told as that of its person alone',
  async () => {
    const { run, askId, says } = await asked('no');
    await says('ana', 'approve');
    expect(await says('zed', 'reject')).toMatchObject({ verdict: { outcome: 'rejected' } });
    const { events } = await world.ended(run);
    expect(events.find(({ type }) => type === 'approval_resolved')).toMatchObject({
      outcome: 'rejected',
    });
    expect(await world.store.getAsk(run.tenant, askId)).toMatchObject({ by: ['zed'] });
  },
  LIMIT_MS,
);

test(
  'the same person is told that the other word stands which they said under the name before; the same word counts once',
  async () => {
    const { run, says } = await asked('contrary');
    await says('ana', 'approve');
    expect(await says('ana', 'approve')).toMatchObject({ verdict: { outcome: 'pending' } });
    await expect(says('ana', 'reject')).rejects.toMatchObject({
      code: 'DecisionRejected',
      message: expect.stringMatching(/ana has said approve under this name before, which stands/),
    });
    await says('zed', 'reject');
    await expect(says('zed', 'approve')).rejects.toMatchObject({
      message: expect.stringMatching(/was rejected by zed/),
    });
    await world.ended(run);
  },
  LIMIT_MS,
);
