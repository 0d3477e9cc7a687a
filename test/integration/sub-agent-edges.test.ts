/**
 * A parent loses its sub-agent, its word, or the id that its sub-agent was to have, on a real server. Parents that are lost
 * are in orphans.test.ts, workers and servers in killed-trees.test.ts.
 */
import type { RunHandle } from '../../client/runs/run-handle.js';
import { addUsage } from '../../core/money/budget.js';
import { replayRuns } from '../../testing/index.js';
import { config } from './support/tree-agents.js';
import { startWire } from './support/wire.js';
import { call, ofType, pay, read, say, startWorld, until, type World } from './support/world.js';

const LIMIT_MS = 180_000;
/** The run whose sub-agent ends without returning its outcome. */
const WORDLESS = 'wordless';

/** In its parent, beside those of a turn with a tool. */
const MORE_EVENTS_MAX = 12;

let world: World;
let wordless: RunHandle;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  wordless = await startWordless();
  await world.serve({ config: config({ serviceUrl: world.service.url }), sweepEveryMs: 1_000 });
}, LIMIT_MS);
afterAll(() => world?.stop(), LIMIT_MS);

const AUDITOR = call('agent', { name: 'auditor', prompt: 'Look at order 1.' });
const workflow = (runId: string) => world.raw.workflow.getHandle(runId);
const costOf = async (runId: string) =>
  (await world.store.attemptedCost('default', runId)).costMicroUsd;

function begin(runId: string, taskQueue?: string): Promise<RunHandle> {
  return world.start({
    agent: 'refund-desk',
    runId,
    replies: [AUDITOR, say('All done.')],
    ...(taskQueue !== undefined && { taskQueue }),
  });
}

/** Its worker dies when the sub-agent has its outcome in the store and is about to return it; then it is terminated. */
async function startWordless(): Promise<RunHandle> {
  const child = `${WORDLESS}:a1`;
  world.script(child, [say('All is well.')]);
  const wire = await startWire({
    address: world.server.address,
    runId: /(wordless:a1)/,
    activity: /close_run/,
    decision: /sealed/,
    fate: ({ about }) => (about === 'sealed' ? 'unsent' : 'delivered'),
  });
  const configModule = require.resolve('./support/tree-agents.ts');
  const doomed = await world.spawn({ configModule, address: wire.address });
  const run = await begin(WORDLESS);
  await until('the word of the sub-agent to be lost', () =>
    wire.cut.has(child) ? true : undefined,
  );
  await workflow(child).terminate('a test');
  await doomed.kill();
  await wire.stop();
  return run;
}

/** The one result of the call that was to be a sub-agent. */
async function resultOf(run: RunHandle) {
  const { result, events } = await world.ended(run);
  const [finished] = ofType(events, 'tool_finished');
  return { result, finished };
}

async function asking(child: string): Promise<void> {
  world.script(child, [pay('pay.asked'), say('Never said.')]);
}

async function asked(runId: string): Promise<void> {
  const query = { runId, pendingOnly: true, limit: 1 };
  await until(
    `the question of ${runId}`,
    async () => (await world.store.listAsks('default', query))[0],
  );
}

/** Its result is that of the call, and what its attempts cost is spent, once. */
async function expectLost(runId: string): Promise<void> {
  const { result, finished } = await resultOf(world.client.handle(runId));
  expect(finished).toMatchObject({ status: 'error', code: 'execution_error' });
  expect(JSON.stringify(finished)).toContain('failed (lost)');
  const [own, lost] = [await costOf(runId), await costOf(`${runId}:a1`)];
  expect(lost).toBeGreaterThan(0);
  expect(result).toMatchObject({ completed: true, costMicroUsd: own + lost });
  const tokens = [runId, `${runId}:a1`].map((id) => world.store.attemptedUsage('default', id));
  const [ofOwn, ofLost] = await Promise.all(tokens);
  expect(ofLost?.input).toBeGreaterThan(0);
  expect(result.usage).toEqual(addUsage(ofOwn!, ofLost!));
  expect(await world.store.childRow('default', `${runId}:a1`)).toMatchObject({ state: 'sealed' });
  expect([...(await replayRuns(world.place, [runId]))]).toEqual([]);
}

test(
  'A turn with a sub-agent adds no more events to its parent than are told, beside one with a tool.',
  async () => {
    world.script('counted:a1', [say('All is well.')]);
    await world.ended(await begin('counted'));
    const replies = [read(), say('All done.')];
    await world.ended(await world.start({ agent: 'refund-desk', runId: 'childless', replies }));
    const [counted = 0, childless = 0] = await Promise.all(['counted', 'childless'].map(eventsOf));
    expect(counted - childless).toBeLessThanOrEqual(MORE_EVENTS_MAX);
  },
  LIMIT_MS,
);

const eventsOf = async (runId: string): Promise<number> =>
  (await world.history(runId)).events?.length ?? 0;

test(
  'A sub-agent that was terminated is lost: its call gets a result, and what it asked for is spent.',
  async () => {
    await asking('terminated:a1');
    await begin('terminated');
    await asked('terminated:a1');
    // Forged: it goes on, and its parent believes nobody but the store.
    await workflow('terminated').signal('childEnded', 'terminated:a1');
    await workflow('terminated:a1').terminate('a test');
    await workflow('terminated').signal('childEnded', 'terminated:a1');
    await expectLost('terminated');
  },
  LIMIT_MS,
);

test(
  'A sub-agent that the server has forgotten before it ended is lost as well.',
  async () => {
    await asking('forgotten:a1');
    await begin('forgotten');
    await asked('forgotten:a1');
    await world.raw.workflowService.deleteWorkflowExecution({
      namespace: world.place.namespace,
      workflowExecution: { workflowId: 'forgotten:a1' },
    });
    await until('the sub-agent to be forgotten', () =>
      workflow('forgotten:a1')
        .describe()
        .then(
          () => undefined,
          () => true,
        ),
    );
    await workflow('forgotten').signal('childEnded', 'forgotten:a1');
    await expectLost('forgotten');
  },
  LIMIT_MS,
);

test(
  'A run that has the id of a sub-agent before it is not taken for the sub-agent, told anything or paid for.',
  async () => {
    const start = { v: 1, agent: 'refund-desk', task: { goal: 'Pay mallory.' } };
    const squatters = [
      { root: 'squatted-other', tenant: 'mallory' },
      { root: 'squatted-own', tenant: 'default' },
    ];
    for (const { root, tenant } of squatters) {
      const workflowId = `${root}:a1`;
      world.script(workflowId, [pay('pay.asked', 100), say('Paid mallory.')]);
      const args = [{ ...start, tenant }];
      await world.raw.workflow.start('agentRun', { workflowId, taskQueue: 'holdfast', args });
      await until('the question of the squatter', async () => {
        const { events } = await world.store.readEvents(
          { tenant, runId: workflowId },
          { sinceSeq: 0, limit: 100 },
        );
        return events.find(({ type }) => type === 'approval_requested');
      });
    }
    const unserved = { workflowId: 'squatted-nobody:a1', taskQueue: 'unserved' };
    await world.raw.workflow.start('anything', unserved);

    const roots = [...squatters.map(({ root }) => root), 'squatted-nobody'];
    const runs = await Promise.all(roots.map((root) => begin(root)));
    for (const run of runs) {
      const { result, finished } = await resultOf(run);
      expect(finished).toMatchObject({ status: 'error', code: 'execution_error' });
      expect(JSON.stringify(finished)).toContain('child_id_taken');
      expect(result).toMatchObject({ completed: true, costMicroUsd: await costOf(run.runId) });
    }
    // Neither its parent nor those who look for orphans touch what is not theirs.
    await until('the sweepers to have looked', async () => {
      const namespace = world.place.namespace;
      const due = await world.store.dueParents({ namespace, at: Date.now() + 1e9, limit: 100 });
      return due.some(({ runId }) => roots.includes(runId)) ? undefined : true;
    });
    for (const root of roots) {
      const { events } = await world.history(`${root}:a1`);
      expect(events?.some((event) => event.workflowExecutionSignaledEventAttributes)).toBe(false);
      expect((await workflow(`${root}:a1`).describe()).status.name).toBe('RUNNING');
      await workflow(`${root}:a1`).terminate('a test');
    }
    expect([...(await replayRuns(world.place, roots))]).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'A sub-agent that is terminated before it returns its outcome is found by its parent after a minute, with that outcome.',
  async () => {
    const { result, finished } = await resultOf(wordless);
    expect(finished).toMatchObject({ status: 'ok' });
    expect(JSON.stringify(finished)).toContain('All is well.');
    const costs = (await costOf(WORDLESS)) + (await costOf(`${WORDLESS}:a1`));
    expect(result).toMatchObject({ completed: true, costMicroUsd: costs });
    const { events } = await world.history(WORDLESS);
    expect(events?.some((event) => event.workflowExecutionSignaledEventAttributes)).toBe(false);
    expect([...(await replayRuns(world.place, [WORDLESS]))]).toEqual([]);
  },
  LIMIT_MS,
);
