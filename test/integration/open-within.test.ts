/** A run that is opened within its first task, on a real server: what its history and Temporal's lists say. */
import { defineConfig } from '../../authoring/index.js';
import { timeOf, typeOf } from '../../recording/history.js';
import { localEndOf } from '../../recording/markers.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { replayRun } from '../../replay/strict-replay.js';
import { config } from './support/agents.js';
import { bundleOf, eventsOf, expectReplays } from './support/replayed-run.js';
import { read, say, startWorld, until, type History, type World } from './support/world.js';

let world: World;
beforeAll(async () => void (world = await startWorld({ worker: false })));
afterAll(() => world.stop());

const served = () => ({ config: config({ serviceUrl: world.service.url }) });

/** What the attempts within the first task came to, and how many ordinary openings there were. */
function openingsIn(history: History) {
  const ends = eventsOf(history).flatMap((event) => localEndOf(event) ?? []);
  const ordinary = (history.events ?? []).filter(
    ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name === 'open_run',
  );
  return {
    within: ends
      .filter(({ type }) => type === 'open_run')
      .map(({ output }) => (output === undefined ? 'timeout' : (output.elsewhere ?? 'opened'))),
    ordinary: ordinary.length,
  };
}

/** From its start to its first task, beyond which a run is opened by an ordinary activity; ms. */
const IN_TIME_MS = 5_000;
const TRIES = 10;
/** What an attempt comes to whose second was over. */
const RAN_OUT: readonly unknown[] = ['store', 'timeout'];

/** The first run of some that a busy machine has opened neither late nor slowly; those before open by ordinary activities. */
async function inTime<P extends { readonly history: History }>(
  name: string,
  play: (runId: string) => Promise<P>,
): Promise<P & { readonly runId: string }> {
  for (let n = 0; n < TRIES; n += 1) {
    const runId = `${name}-${n}`;
    const played = await play(runId);
    const events = eventsOf(played.history);
    const first = events.find((event) => typeOf(event) === 'WORKFLOW_TASK_STARTED');
    const { within, ordinary } = openingsIn(played.history);
    const isLate = timeOf(first) - timeOf(events[0]) > IN_TIME_MS;
    if (!isLate && !within.some((one) => RAN_OUT.includes(one))) return { ...played, runId };
    expect(ordinary).toBe(1);
  }
  throw new Error(`no run of ${TRIES} was opened in time`);
}

async function replays(runId: string): Promise<void> {
  const bundle = await bundleOf(world, runId);
  await expectReplays(bundle);
  expect(bundle.versions).toMatchObject({ frozen: { agent: '1' } });
  const hidden = await redactBundle(bundle, [{ name: 'whom', pattern: /customer/g }]);
  expect(await replayRun(hidden)).toMatchObject({ equal: true, differences: [] });
}

const listed = async (status: string): Promise<readonly string[]> => {
  const ids: string[] = [];
  const query = `HoldfastStatus = '${status}'`;
  for await (const { workflowId } of world.raw.workflow.list({ query })) ids.push(workflowId);
  return ids;
};

describe('a worker of both parts', () => {
  let retire: () => Promise<void>;
  beforeAll(async () => {
    const worker = await world.serve(served());
    retire = () => world.retire(worker);
  });
  afterAll(() => retire());

  test('its first task has the opening and the first request; Temporal’s lists know it from its start to its end', async () => {
    const { result, history, runId } = await inTime('within', async (id) => {
      const held = world.service.hold(id, 'read');
      const run = await world.start({ runId: id, replies: [read(), say('Done.')], wait: false });
      await held;
      await until('the run in the list', async () =>
        (await listed('running')).includes(id) ? true : undefined,
      );
      world.service.releaseAll();
      return world.ended(run);
    });
    expect(result.status).toBe('completed');
    expect(openingsIn(history)).toEqual({ within: ['opened'], ordinary: 0 });
    const types = eventsOf(history).map(typeOf);
    expect(types.slice(1, 6)).toEqual([
      'WORKFLOW_TASK_SCHEDULED',
      'WORKFLOW_TASK_STARTED',
      'WORKFLOW_TASK_COMPLETED',
      'MARKER_RECORDED',
      'ACTIVITY_TASK_SCHEDULED',
    ]);
    expect(types.slice(-3)).toEqual([
      'WORKFLOW_TASK_COMPLETED',
      'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
      'WORKFLOW_EXECUTION_COMPLETED',
    ]);
    expect(types.filter((type) => type === 'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES')).toHaveLength(1);
    await until('its end in the list', async () =>
      (await listed('completed')).includes(runId) ? true : undefined,
    );
    expect(await listed('running')).not.toContain(runId);
    await replays(runId);
  });

  test('a run that is asked and told all the time from its start on stands nowhere, and replays', async () => {
    for (let n = 0; n < 5; n += 1) {
      const { result, history, runId } = await inTime(`asked-${n}`, async (id) => {
        let isOver = false;
        const handle = world.raw.workflow.getHandle(id);
        const ask = async (): Promise<void> => {
          while (!isOver) await handle.query('__temporal_workflow_metadata').catch(() => undefined);
        };
        for (let asking = 0; asking < 4; asking += 1) void ask();
        const run = await world.start({ runId: id, replies: [read(), say('Done.')], wait: false });
        await run.setPermissionMode('dontAsk');
        return world.ended(run).finally(() => (isOver = true));
      });
      expect(result.status).toBe('completed');
      expect(openingsIn(history)).toEqual({ within: ['opened'], ordinary: 0 });
      expect(eventsOf(history).map(typeOf)).not.toContain('WORKFLOW_TASK_TIMED_OUT');
      await replays(runId);
    }
  });

  test('an agent that nobody serves is looked for by the ordinary activity', async () => {
    const input = {
      v: 1,
      agent: 'nobody',
      task: { goal: 'Serve.' },
      settings: { unservedTimeoutMs: 1_000 },
    };
    const { history } = await inTime('nobody', async (workflowId) => {
      const handle = await world.raw.workflow.start('agentRun', {
        workflowId,
        taskQueue: 'holdfast',
        args: [input],
      });
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'UnknownAgent' } });
      return { history: await world.history(workflowId) };
    });
    expect(openingsIn(history)).toEqual({ within: ['unserved'], ordinary: 1 });
  });
});

test('a gate is asked once, by the ordinary activity', async () => {
  const asked = jest.fn(() => undefined);
  const { agents } = served().config;
  const gated = defineConfig({ agents: [...agents.values()], refuseTask: asked });
  const worker = await world.serve({ config: gated });
  const { history, runId } = await inTime('gated', async (id) => {
    asked.mockClear();
    return world.ended(await world.start({ runId: id, replies: [say('Done.')] }));
  });
  expect(openingsIn(history)).toEqual({ within: ['outside'], ordinary: 1 });
  expect(asked).toHaveBeenCalledTimes(1);
  await replays(runId);
  await world.retire(worker);
});

test('workers that only decide leave the opening to those that have the code', async () => {
  const decider = await world.serve({ ...served(), serves: 'workflows' });
  const other = await world.serve({ ...served(), serves: 'activities' });
  const { result, history, runId } = await inTime('decided', async (id) =>
    world.ended(await world.start({ runId: id, replies: [read(), say('Done.')] })),
  );
  expect(result.status).toBe('completed');
  expect(openingsIn(history)).toEqual({ within: ['unserved'], ordinary: 1 });
  await replays(runId);
  await Promise.all([decider, other].map((worker) => world.retire(worker)));
});
