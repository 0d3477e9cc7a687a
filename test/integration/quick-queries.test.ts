/**
 * Queries that come while quick reads run, on a real server. Temporal then completes the task before the run hears of the
 * read's end, and says so with the next task. Where the end is in the history of the task before, the run has the next one
 * done again, so that it decides as every replay does; where it is not, the run goes on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { foldOf } from '../../recording/fold.js';
import { exportRun } from '../../replay/export-run.js';
import { replayRun } from '../../replay/strict-replay.js';
import { RESULT_OF_TASK_BEFORE } from '../../workflows/started-tasks.js';
import { config } from './support/quick-agents.js';
import { call, say, startWorld, type History, type World } from './support/world.js';

const RUNS_MOST = 60;
const ASKING = 4;
/** Of the second that a row of quick reads has. */
const FIRST_MS = 300;
const read = (item: string) => call('facts.quick', { item });

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.serve({ config: config({ serviceUrl: world.service.url }) });
});
afterAll(() => world.stop());

/** Asks again and again, until `ended` settles; nobody waits for the answers that are then missing. */
async function askedUntil<T>(runId: string, ended: Promise<T>): Promise<T> {
  let isOver = false;
  const ask = async (): Promise<void> => {
    const handle = world.raw.workflow.getHandle(runId);
    while (!isOver) await handle.query('__temporal_workflow_metadata').catch(() => undefined);
  };
  for (let n = 0; n < ASKING; n += 1) void ask();
  return ended.finally(() => (isOver = true));
}

const doneAgain = ({ events }: History): number =>
  (events ?? []).filter(({ workflowTaskFailedEventAttributes: failed }) =>
    failed?.failure?.message?.includes(RESULT_OF_TASK_BEFORE),
  ).length;

/** Tasks that a query ended while a read ran. */
const endedByQuery = ({ events }: History): number =>
  (events ?? []).filter(
    ({ workflowTaskCompletedEventAttributes: completed }, index, all) =>
      completed && all[index + 1]?.workflowTaskScheduledEventAttributes,
  ).length;

async function replays(runId: string): Promise<void> {
  const bundle = await exportRun(
    { ...world.place, store: world.store },
    { tenant: 'default', runId },
  );
  expect(await replayRun(bundle)).toMatchObject({ equal: true, differences: [] });
  expect(foldOf(bundle).divergences).toEqual([]);
}

test('a run that is asked all the time while its quick reads run replays to the letter', async () => {
  let seen = 0;
  for (let n = 0; n < RUNS_MOST && seen < 2; n += 1) {
    const runId = `asked-${n}`;
    const replies = [read('apple'), read('pear'), read('plum'), say('Done.')];
    const run = await world.start({ runId, replies });
    const { result, history } = await askedUntil(runId, world.ended(run));
    expect(result.status).toBe('completed');
    seen += doneAgain(history);
    await replays(runId);
  }
  // Without it the runs above prove nothing.
  expect(seen).toBeGreaterThan(0);
});

test('a run that is asked while a read hangs goes on when the time of that read is over', async () => {
  let seen = 0;
  for (let n = 0; n < RUNS_MOST && seen === 0; n += 1) {
    const runId = `hangs-${n}`;
    // Who asks while the first one waits is answered by the task of the second one, more often than not.
    void world.service.hold(runId, 'read').then(async () => {
      await sleep(FIRST_MS);
      void world.service.hold(runId, 'read');
      world.service.releaseAll();
    });
    const run = await world.start({ runId, replies: [read('apple'), read('pear'), say('Done.')] });
    const { result, history } = await askedUntil(runId, world.ended(run));
    expect(result.status).toBe('completed');
    seen += endedByQuery(history);
    await replays(runId);
  }
  // Without it the runs above prove nothing.
  expect(seen).toBeGreaterThan(0);
});
