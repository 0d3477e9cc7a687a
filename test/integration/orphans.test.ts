/** Sub-agents whose parent is gone, on a real server: two workers sweep, each orphan ends once and tells what it cost. */
import { randomUUID } from 'node:crypto';
import type { ScriptedAnswer } from '../../testing/index.js';
import { replayRuns } from '../../testing/index.js';
import { APPROVER } from './support/agents.js';
import { config as treeConfig } from './support/tree-agents.js';
import { call, ofType, pay, say, startWorld, until, type World } from './support/world.js';

const SWEEP_EVERY_MS = 100;
/** How long an orphan may live by what the guide says. */
const ORPHAN_MS = 60_000;

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  const config = treeConfig({ serviceUrl: world.service.url });
  for (const _ of [1, 2]) await world.serve({ config, sweepEveryMs: SWEEP_EVERY_MS });
});
afterAll(() => world?.stop());

const asks = (name: string, prompt = 'Look at order 1.') => call('agent', { name, prompt });
const run = (runId: string) => world.raw.workflow.getHandle(runId);

/** A root whose auditor has a clerk that waits for a person; resolves when the person is waited for. */
async function waitingTree(root: string): Promise<void> {
  world.script(`${root}:a1`, [asks('clerk'), say('Audited.')]);
  world.script(`${root}:a1:a1`, [pay('pay.asked'), say('Paid.')]);
  await begin(root, [asks('auditor'), say('All done.')]);
  await asked(`${root}:a1:a1`);
}

async function begin(root: string, replies: readonly ScriptedAnswer[]) {
  return world.start({ agent: 'refund-desk', runId: root, replies });
}

async function asked(runId: string): Promise<void> {
  const query = { under: runId, pendingOnly: true, limit: 1 };
  await until(
    `the question of ${runId}`,
    async () =>
      (await world.store.listAsks('default', query))[0] ??
      (await world.store.listAsks('default', { runId, pendingOnly: true, limit: 1 }))[0],
  );
}

async function endOf(runId: string) {
  const result = await until(
    `the end of ${runId}`,
    async () => (await world.store.getRun('default', runId))?.result,
    ORPHAN_MS,
  );
  await until(`the workflow of ${runId} to close`, async () =>
    (await run(runId).describe()).status.name === 'RUNNING' ? undefined : true,
  );
  return result;
}

const auditOf = async (runId: string) =>
  (await world.store.readAudit('default', { limit: 100, runId })).filter(({ kind }) =>
    kind.startsWith('orphan'),
  );

/** The whole story of an orphan: aborted, its cost told once, no effect, a history that replays. */
async function expectSwept(runId: string, why: string): Promise<void> {
  const result = await endOf(runId);
  expect(result).toMatchObject({ status: 'cancelled', stopReason: 'aborted' });
  const costs = await world.store.attemptedCost('default', runId);
  expect(result.costMicroUsd).toBeGreaterThanOrEqual(costs.costMicroUsd);
  expect(costs.costMicroUsd).toBeGreaterThan(0);
  const rows = await until('the word of its end', async () => {
    const told = await auditOf(runId);
    return told.length >= 2 ? told : undefined;
  });
  expect(rows).toMatchObject([
    { kind: 'orphan_stopped', facts: { why } },
    { kind: 'orphan_ended', facts: { costMicroUsd: result.costMicroUsd, result: 'aborted' } },
  ]);
  const cancel = (await world.history(runId)).events?.find(
    (event) => event.workflowExecutionCancelRequestedEventAttributes,
  );
  expect(cancel?.workflowExecutionCancelRequestedEventAttributes?.cause).toContain('orphan');
  expect([...(await replayRuns(world.place, [runId]))]).toEqual([]);
}

test('A sub-agent whose parent was terminated is told to stop, and ends those below it and their questions.', async () => {
  await waitingTree('terminated');
  expect(await auditOf('terminated:a1')).toEqual([]);
  await run('terminated').terminate('a test');
  await expectSwept('terminated:a1', 'parent_closed');
  const clerk = await endOf('terminated:a1:a1');
  expect(clerk).toMatchObject({ status: 'cancelled' });
  // The auditor ended it in the ordinary way, and its cost is in the auditor's.
  expect(await auditOf('terminated:a1:a1')).toEqual([]);
  expect(world.service.visits('terminated:a1:a1', 'effect')).toEqual([]);
  const open = await world.store.listAsks('default', {
    under: 'terminated',
    pendingOnly: true,
    limit: 5,
  });
  expect(open).toEqual([]);
});

test('A sub-agent of a sub-agent that was terminated ends, and its root goes on.', async () => {
  await waitingTree('middle');
  await run('middle:a1').terminate('a test');
  await expectSwept('middle:a1:a1', 'parent_closed');
  expect((await run('middle').describe()).status.name).toBe('RUNNING');
  await run('middle').signal('childEnded', 'middle:a1');
  const result = await endOf('middle');
  expect(result).toMatchObject({ completed: true });
});

test('A sub-agent whose parent the server has forgotten is told to stop.', async () => {
  await waitingTree('forgotten');
  await world.raw.workflowService.deleteWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId: 'forgotten' },
  });
  const result = await endOf('forgotten:a1');
  expect(result).toMatchObject({ stopReason: 'aborted' });
  const [stopped] = await until('the word of it', async () => {
    const rows = await auditOf('forgotten:a1');
    return rows.length >= 2 ? rows : undefined;
  });
  // Deleting terminates: whoever looks in between sees a parent that has ended.
  expect(['parent_forgotten', 'parent_closed']).toContain(stopped?.facts.why);
  expect(await endOf('forgotten:a1:a1')).toMatchObject({ status: 'cancelled' });
});

test('A sub-agent that a reset parent passes over is told to stop while the parent goes on, and is paid for.', async () => {
  world.script('reset:a1', [pay('pay.asked'), say('Paid.')]);
  world.script('reset:a2', [pay('pay.asked'), say('All is well.')]);
  let way = 0;
  const ways = [
    [asks('auditor', 'Look at order 1.'), say('All done.')],
    [asks('auditor', 'Look at order 2.'), say('All done.')],
  ];
  const replies = [asks('auditor', 'Look at order 1.'), say('All done.')];
  await begin('reset', replies);
  world.script('reset', ({ assistantMessages }) => ways[way]![assistantMessages]!);
  await asked('reset:a1');
  // Comes back with the reset, ahead of the first request: the model is asked another question.
  await world.client.message('reset', 'It is order 2.', 'm1');
  way = 1;
  await resetToStart('reset');
  expect(await endOf('reset:a1')).toMatchObject({ stopReason: 'aborted' });
  await asked('reset:a2');
  const [ask] = await world.store.listAsks('default', { runId: 'reset:a2', limit: 1 });
  await world.client.handle('reset:a2').approve(ask!.askId, APPROVER);
  const result = await endOf('reset');
  expect(result).toMatchObject({ completed: true });
  const costs = [1, 2].map(async (n) => (await endOf(`reset:a${n}`)).costMicroUsd);
  const [first = 0, second = 0] = await Promise.all(costs);
  const own = (await world.store.attemptedCost('default', 'reset')).costMicroUsd;
  // Among its own are the calls before the reset.
  expect(result.costMicroUsd).toBeGreaterThan(first + second);
  expect(result.costMicroUsd).toBeLessThanOrEqual(own + first + second);
  const started = ofType(await world.events('reset'), 'tool_finished');
  expect(started).toMatchObject([{ status: 'ok', child: 'reset:a2' }]);
});

test('A sub-agent that a reset parent finds again is read, and never told to stop.', async () => {
  world.script('found:a1', [pay('pay.asked'), say('Paid.')]);
  const root = await begin('found', [asks('auditor'), say('All done.')]);
  await asked('found:a1');
  await resetToStart('found');
  await until('the sub-agent to be found again', async () => {
    const { events } = await world.history('found');
    return events?.find((event) => event.startChildWorkflowExecutionFailedEventAttributes);
  });
  const [ask] = await world.store.listAsks('default', {
    under: 'found',
    pendingOnly: true,
    limit: 1,
  });
  await world.client.handle('found:a1').approve(ask!.askId, APPROVER);
  expect((await world.ended(root)).result).toMatchObject({ completed: true });
  expect(await auditOf('found:a1')).toEqual([]);
  expect(world.service.visits('found:a1', 'effect')).toHaveLength(1);
});

async function resetToStart(runId: string): Promise<void> {
  const { events = [] } = await world.history(runId);
  const task = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await world.raw.workflowService.resetWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId: runId },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: task!.eventId!,
  });
}
