/**
 * Queries and messages that come while quick reads run, on a real server. Temporal completes a task as soon as there is an
 * answer of a query; in the middle of a read, replays would then hear what comes next at another time than the run did.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { config } from './support/quick-agents.js';
import { bundleOf, expectReplays } from './support/replayed-run.js';
import { call, say, startWorld, type History, type World } from './support/world.js';

const RUNS = 5;
const ASKING = 4;
/** With a hundred messages within one task, which takes seconds on a busy machine, the server closes that task. */
const PAUSE_MS = 25;
const read = (...items: readonly string[]) => ({
  calls: items.flatMap((item) => call('facts.quick', { item }).calls),
});

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

/** Sends messages that begin tasks, until `ended` settles; how many. */
async function tellUntil(run: RunHandle, ended: Promise<unknown>): Promise<number> {
  let isOver = false;
  void ended.finally(() => (isOver = true));
  for (let told = 0; ; told += 1) {
    if (isOver) return told;
    await run.setPermissionMode(told % 2 === 0 ? 'dontAsk' : 'default').catch(() => undefined);
    await sleep(PAUSE_MS);
  }
}

/** Tasks that a query ended while a read ran. */
const endedByQuery = ({ events }: History): number =>
  (events ?? []).filter(
    ({ workflowTaskCompletedEventAttributes: completed }, index, all) =>
      completed && all[index + 1]?.workflowTaskScheduledEventAttributes,
  ).length;

const replays = async (runId: string) => expectReplays(await bundleOf(world, runId));

test('a run that is asked and told all the time while its quick reads run replays to the letter', async () => {
  for (let n = 0; n < RUNS; n += 1) {
    const runId = `asked-${n}`;
    const replies = [read('apple', 'pear', 'plum', 'fig'), read('nut'), say('Done.')];
    const run = await world.start({ runId, replies });
    const ended = world.ended(run);
    const told = tellUntil(run, ended);
    const { result, history } = await askedUntil(runId, ended);
    expect(result.status).toBe('completed');
    expect(await told).toBeGreaterThan(0);
    expect(endedByQuery(history)).toBe(0);
    await replays(runId);
  }
});

test('a query that comes while a read hangs has its answer when the time of that read is over', async () => {
  const runId = 'hangs';
  const held = world.service.hold(runId, 'read');
  const run = await world.start({ runId, replies: [read('apple'), say('Done.')] });
  await held;
  await world.raw.workflow.getHandle(runId).query('__temporal_workflow_metadata');
  world.service.releaseAll();
  const { result, history } = await world.ended(run);
  expect(result.status).toBe('completed');
  expect(endedByQuery(history)).toBe(0);
  await replays(runId);
});
