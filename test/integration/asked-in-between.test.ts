/**
 * A run that is asked for its state while no worker is there, and told something before one comes: the worker may
 * be asked before it gets the task, and decides all the same at the time of the task.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { replayRuns } from '../../testing/replay.js';
import { interrupt } from '../../workflows/messages.js';
import { openAsk, pay, say, startWorld, type World } from './support/world.js';

const RUNS = 12;
/** Until a question has given up the worker that was there before, in ms. */
const GIVEN_UP_MS = 2_500;
const ANSWER_LIMIT_MS = 90_000;

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
});
afterAll(() => world.stop());

test('every question is answered, every run ends, and every history replays', async () => {
  const before = await world.spawn();
  const runs = await Promise.all(
    Array.from({ length: RUNS }, (_, index) =>
      world.start({ runId: `asked-${index}`, replies: [pay('pay.asked'), say('Finished.')] }),
    ),
  );
  await Promise.all(runs.map((run) => openAsk(run)));
  await before.kill();
  const answers = runs.map((run) => run.state(ANSWER_LIMIT_MS));
  await sleep(GIVEN_UP_MS);
  await Promise.all(runs.map(toldToStop));
  await world.serve();
  for (const { status } of await Promise.all(answers)) expect(status).toBeDefined();
  for (const run of runs) expect((await world.ended(run)).result.stopReason).toBe('interrupted');
  const runIds = runs.map(({ runId }) => runId);
  const failures = await replayRuns(world.place, runIds);
  expect([...failures]).toEqual([]);
});

function toldToStop({ runId }: RunHandle): Promise<void> {
  return world.raw.workflow.getHandle(runId).signal(interrupt);
}
