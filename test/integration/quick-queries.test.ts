/**
 * Queries that come while quick reads run, on a real server. Temporal then completes the task before the run hears of the
 * read's end, and says so with the next task: the run has that one done again, so that it decides as every replay does.
 */
import { exportRun } from '../../replay/export-run.js';
import { replayRun } from '../../replay/strict-replay.js';
import { RESULT_OF_TASK_BEFORE } from '../../workflows/started-tasks.js';
import { config } from './support/quick-agents.js';
import { call, say, startWorld, type History, type World } from './support/world.js';

const RUNS_MOST = 60;
const ASKING = 4;
const read = (item: string) => call('facts.quick', { item });

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.serve({ config: config({ serviceUrl: world.service.url }) });
});
afterAll(() => world.stop());

/** Asks again and again, until `ended` settles. */
async function askedUntil(runId: string, ended: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = ended.finally(() => (isOver = true));
  const asking = Array.from({ length: ASKING }, async () => {
    const handle = world.raw.workflow.getHandle(runId);
    while (!isOver) await handle.query('__temporal_workflow_metadata');
  });
  await Promise.all([over, ...asking]);
}

const doneAgain = ({ events }: History): number =>
  (events ?? []).filter(({ workflowTaskFailedEventAttributes: failed }) =>
    failed?.failure?.message?.includes(RESULT_OF_TASK_BEFORE),
  ).length;

test('a run that is asked all the time while its quick reads run replays to the letter', async () => {
  let seen = 0;
  for (let n = 0; n < RUNS_MOST && seen < 2; n += 1) {
    const runId = `asked-${n}`;
    const row = { calls: ['apple', 'pear', 'plum'].flatMap((item) => read(item).calls) };
    const replies = [read('apple'), row, read('plum'), row, say('Done.')];
    const run = await world.start({ runId, replies });
    const ended = world.ended(run);
    await askedUntil(runId, ended);
    const { result, history } = await ended;
    expect(result.status).toBe('completed');
    seen += doneAgain(history);
    const bundle = await exportRun(
      { ...world.place, store: world.store },
      { tenant: 'default', runId },
    );
    expect(await replayRun(bundle)).toMatchObject({ equal: true, differences: [] });
  }
  // Without it the runs above prove nothing.
  expect(seen).toBeGreaterThan(0);
});
