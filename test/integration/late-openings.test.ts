/** Runs that are started and open late, on a real server: who waits waits on, and hears what Temporal knows. */
import { openLink } from '../../client/connect.js';
import type { Link } from '../../client/link.js';
import { untilOpen } from '../../client/runs/until-open.js';
import * as messages from '../../workflows/messages.js';
import { say, startWorld, TASK_QUEUE, until, type World } from './support/world.js';

const SHORT_MS = 500;
const LONG_MS = 120_000;
/** A decision of a dead worker is handed out again after this long. */
const DECISION_MS = 2_000;

let world: World;
let link: Link;
let close: () => Promise<void>;
beforeEach(async () => {
  world = await startWorld({ worker: false });
  ({ link, close } = await openLink({ ...world.place, store: world.store }));
});
afterEach(async () => {
  await close();
  await world.stop();
});

const opened = (runId: string, goesOnLimitMs: number) =>
  untilOpen(link, runId, {
    limitMs: SHORT_MS,
    goesOnLimitMs,
    needsWorker: true,
    signal: undefined,
  });

/** A run whose first task was lost with a worker that is dead now. */
async function lostRun(runId: string): Promise<void> {
  const worker = await world.spawn();
  // By then the worker asks for work.
  const warm = await world.start({ runId: `${runId}-before`, replies: [say('Done.')] });
  await warm.result();
  worker.freeze();
  const decisionTimeoutMs = DECISION_MS;
  await world.start({ runId, replies: [say('Done.')], wait: false, decisionTimeoutMs });
  await until('the loss', async () =>
    (await world.client.handle(runId).execution()).attempt > 1 ? true : undefined,
  );
  await worker.kill();
}

test('a run whose task was lost with a worker is waited for, and opens with the next one', async () => {
  await lostRun('waited');
  const waited = opened('waited', LONG_MS).then(() => 'open');
  waited.catch(() => undefined);
  // Longer than the short limit: a worker takes that to begin.
  await world.spawn();
  expect(await waited).toBe('open');
  expect((await world.ended(world.client.handle('waited'))).result.completed).toBe(true);
}, 180_000);

test('a wait that ends before says that the task was lost, which is no failure', async () => {
  await lostRun('told');
  const refusal = (await opened('told', SHORT_MS).catch((error: unknown) => error)) as Error;
  expect(refusal).toMatchObject({
    code: 'ServerUnavailable',
    message: expect.stringMatching(/was not open after \d+ s: its workflow task was lost with/),
    hint: expect.stringMatching(/by itself, and nothing is lost/),
    details: { heldBy: 'lost' },
  });
  expect(refusal.message).not.toMatch(/fail/);
  const stuck = await world.client.stuckRuns({ limit: 10, allTenants: true });
  expect(stuck).toMatchObject([{ runId: 'told', kind: 'workflow_task', lost: true }]);
}, 180_000);

test('a run whose task fails is given up at the first limit, with why', async () => {
  await world.serve();
  const args = [{ v: 2, agent: 'desk', task: { goal: 'Serve.' } }];
  const start = { workflowId: 'failing', taskQueue: TASK_QUEUE, args };
  const run = await world.raw.workflow.start(messages.AGENT_RUN, start as never);
  await until('the failure', async () =>
    (await world.client.handle('failing').execution()).attempt > 1 ? true : undefined,
  );
  await expect(opened('failing', LONG_MS)).rejects.toMatchObject({
    message: expect.stringMatching(/its workflow task failed, and is tried again.*NotServed/),
    details: { heldBy: 'failing' },
  });
  await run.terminate();
}, 180_000);
