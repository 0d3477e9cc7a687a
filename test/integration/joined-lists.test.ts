/** Lists with a store and a server: runs that Temporal ended, and runs that no worker has opened. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { connect } from '../../client/index.js';
import type { WorkflowStartOptions } from '@temporalio/client';
import { TENANT } from '../../client/runs/execution.js';
import { eventsFrom, SESSION_INIT } from '../store/fixtures.js';
import { startDesk } from './support/desk.js';
import { openAsk, pay, say, startWorld, until, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

async function waiting(runId: string) {
  const run = await world.start({ runId, replies: [pay('pay.asked'), say('Finished.')] });
  const { askId } = await openAsk(run);
  await until('the question in the store', () => world.store.getAsk('default', askId));
  return run;
}

/** Nobody works on its task queue. */
async function unopened(runId: string, agent = 'desk') {
  const client = await connect({ ...world.place, ...world.patience, taskQueue: 'nobody' });
  try {
    await client.start({ agent, task: 'Wait.', runId, wait: false });
  } finally {
    await client.close();
  }
}

const terminate = (runId: string) => world.raw.workflow.getHandle(runId).terminate('the operator');

type Query = Parameters<World['client']['joinedRuns']>[0];
async function listed(query: Partial<Query> = {}): Promise<readonly string[]> {
  const { rows, trouble } = await world.client.joinedRuns({ limit: 50, ...query });
  expect(trouble).toBeUndefined();
  return rows.map(({ runId, status }) => `${runId} ${status}`);
}

/** Temporal's list lags. */
const untilListed = (line: string) =>
  until(line, async () => ((await listed()).includes(line) ? true : undefined));

async function holdfast(argv: readonly string[], address = world.place.address) {
  let [out, err] = ['', ''];
  const { namespace } = world.place;
  const place = ['--address', address, '--namespace', namespace, '--store', world.storePlace];
  const folder = join(world.storePlace, '..');
  const code = await runCli([...argv, ...place], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

test('a run that was terminated is listed and shown as that, found by it, and no more by how it stood', async () => {
  await waiting('ended');
  await waiting('alive');
  await terminate('ended');
  await untilListed('ended terminated');
  expect(await listed()).toContain('alive awaiting_approval');
  expect(await listed({ status: 'terminated' })).toEqual(['ended terminated']);
  expect(await listed({ status: 'awaiting_approval' })).toEqual(['alive awaiting_approval']);
  // The store is left as it was.
  const row = await world.store.getRun('default', 'ended');
  expect(row).toMatchObject({ status: 'awaiting_approval' });
  const { out, err } = await holdfast(['list', '--status', 'terminated']);
  expect(out).toMatch(/ended .*terminated/);
  expect([out.includes('alive'), err]).toEqual([false, '']);
  const found = await holdfast(['list', '--status', 'terminated', '--goal', 'serve', '--json']);
  expect(JSON.parse(found.out)).toMatchObject({ runs: [{ runId: 'ended', status: 'terminated' }] });
  const shown = await holdfast(['show', 'ended', '--json']);
  expect(JSON.parse(shown.out)).toMatchObject({ run: { status: 'terminated' }, state: null });
});

test('a run that no worker has opened is listed between the others, on one page alone', async () => {
  await waiting('first');
  await unopened('unopened');
  await waiting('last');
  await untilListed('unopened running');
  const names = async () => (await listed()).map((line) => line.split(' ')[0]);
  const all = await names();
  expect(all.slice(0, 3)).toEqual(['last', 'unopened', 'first']);
  const paged: string[] = [];
  let before: Query['before'];
  do {
    const page = await world.client.joinedRuns({ limit: 1, ...(before && { before }) });
    paged.push(...page.rows.map(({ runId }) => runId));
    before = page.next;
  } while (before !== undefined);
  expect(paged).toEqual(all);
  expect(await listed({ status: 'running' })).toEqual(['unopened running']);
  expect(await listed({ agent: 'other' })).toEqual([]);
  expect((await world.client.forTenant('other').joinedRuns({ limit: 9 })).rows).toEqual([]);
  const { out } = await holdfast(['list', '--status', 'running', '--json']);
  expect(JSON.parse(out)).toMatchObject({ runs: [{ runId: 'unopened', status: 'running' }] });
  await terminate('unopened');
  await untilListed('unopened terminated');
  expect(await listed({ status: 'running' })).toEqual([]);
});

test('a run that is reset goes on under its id, and is never called terminated', async () => {
  await waiting('reset');
  const { events } = await world.history('reset');
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  const task = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await world.raw.workflowService.resetWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId: 'reset', runId: started?.originalExecutionRunId ?? '' },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: task!.eventId!,
  });
  for (let looks = 0; looks < 20; looks += 1) {
    expect((await listed()).filter((line) => line.startsWith('reset '))).not.toContain(
      'reset terminated',
    );
    expect(await listed({ status: 'terminated' })).not.toContain('reset terminated');
  }
  const bare = await connect({ ...world.place, ...world.patience });
  const runs = await bare.listRuns({ limit: 50 });
  await bare.close();
  const statuses = runs.filter(({ runId }) => runId === 'reset').map(({ status }) => status);
  expect(statuses).toHaveLength(1);
  expect(statuses).not.toContain('terminated');
});

/** As the store has a run whose workflow is this one. */
async function opened(runId: string, options: Partial<WorkflowStartOptions> = {}) {
  await world.store.appendEvents(
    { tenant: 'default', runId, execution: 'e' },
    eventsFrom(0, [SESSION_INIT], Date.now()),
  );
  return startAnew(runId, options);
}

function startAnew(runId: string, options: Partial<WorkflowStartOptions>, tenant = 'default') {
  return world.raw.workflow.start('agentRun', {
    workflowId: runId,
    taskQueue: 'nobody',
    args: [],
    typedSearchAttributes: [{ key: TENANT, value: tenant }],
    ...options,
  });
}

test('a run that timed out in Temporal is listed as that, with what the store knew of it', async () => {
  await opened('late', { workflowExecutionTimeout: '1 second' });
  await untilListed('late timed_out');
  expect(await listed({ status: 'timed_out' })).toEqual(['late timed_out']);
  expect(await listed({ status: 'running' })).not.toContain('late running');
  const { rows } = await world.client.joinedRuns({ limit: 50, status: 'timed_out' });
  expect(rows).toMatchObject([{ runId: 'late', lastSeq: 0 }]);
  const { out } = await holdfast(['list', '--status', 'running', '--json']);
  expect(JSON.parse(out).runs).not.toContainEqual(expect.objectContaining({ runId: 'late' }));
});

test('an id that was given anew stands as its new run; one that another tenant has now, as unknown', async () => {
  await opened('again');
  await terminate('again');
  await untilListed('again terminated');
  await startAnew('again', {});
  await untilListed('again running');
  expect(await listed({ status: 'terminated' })).not.toContain('again terminated');
  await opened('given-away');
  await terminate('given-away');
  await startAnew('given-away', {}, 'other');
  await until('unknown', async () => {
    const { rows } = await world.client.joinedRuns({ limit: 50 });
    return rows.find(({ runId, unknown }) => runId === 'given-away' && unknown);
  });
  expect(await listed({ status: 'terminated' })).not.toContain('given-away terminated');
});

test('without the server the store is told, with one line that says so; runs that Temporal ended cannot be listed', async () => {
  const nowhere = '127.0.0.1:9';
  const { code, out, err } = await holdfast(['list'], nowhere);
  expect([code, err.trim().split('\n').length]).toEqual([0, 1]);
  expect(out).toMatch(/ended .*awaiting_approval/);
  expect(err).toContain('This list has what the store knows');
  const told = await holdfast(['list', '--json'], nowhere);
  expect(JSON.parse(told.out)).toMatchObject({ trouble: expect.any(String) });
  expect((await holdfast(['list', '--status', 'terminated'], nowhere)).code).toBe(1);
});

test('the desk lists and shows the same', async () => {
  await unopened('unopened-at-desk');
  await untilListed('unopened-at-desk running');
  const desk = await startDesk(world);
  try {
    const { body } = await desk.get('/v1/runs?status=terminated');
    const items = body?.['items'] as readonly { readonly runId: string }[];
    expect(items.map(({ runId }) => runId)).toContain('ended');
    const ended = await desk.get('/v1/runs/ended');
    expect(ended.body).toMatchObject({ status: 'terminated', pending: [] });
    const fresh = await desk.get('/v1/runs/unopened-at-desk');
    expect(fresh.body).toMatchObject({ status: 'running', agent: 'desk' });
    expect((await desk.get('/v1/runs/unopened-at-desk', 'bob')).status).toBe(404);
  } finally {
    await desk.stop();
  }
});
