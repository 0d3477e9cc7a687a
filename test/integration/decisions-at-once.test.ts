/** What a busy worker has in hand is lost when it dies: it takes no more than it may soon get to. */
import type { PayloadCodec } from '@temporalio/common';
import { startWorld, TASK_QUEUE, until, type World } from './support/world.js';
import * as messages from '../../workflows/messages.js';
import { AGENT } from './support/agents.js';

const RUNS = 60;
const AT_ONCE = 10;

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
});
afterAll(() => world.stop());

test('a worker that gets to nothing takes a few decisions and leaves the rest to others', async () => {
  const stuck = stuckCodec();
  const worker = await world.serve({ payloadCodecs: [stuck.codec] });
  const runIds = Array.from({ length: RUNS }, (_, number) => `waiting-${number}`);
  const start = (workflowId: string) =>
    world.raw.workflow.start(messages.AGENT_RUN, {
      workflowId,
      taskQueue: TASK_QUEUE,
      args: [{ v: 1, agent: AGENT, task: { goal: 'Serve.' } }],
    });
  await Promise.all(runIds.map(start));
  await until('a decision in hand', () => (stuck.waiting() >= AT_ONCE ? true : undefined));
  // Every poll of the worker has been answered by now: the queue has more than it may take.
  await until('others in the queue', async () => {
    const facts = await Promise.all(runIds.map((runId) => begun(runId)));
    return facts.filter(Boolean).length >= AT_ONCE ? true : undefined;
  });
  expect((await Promise.all(runIds.map(begun))).filter(Boolean)).toHaveLength(AT_ONCE);
  expect(stuck.waiting()).toBe(AT_ONCE);
  stuck.release();
  worker.shutdown();
});

async function begun(runId: string): Promise<boolean> {
  const { events } = await world.history(runId);
  return (events ?? []).some((event) => event.workflowTaskStartedEventAttributes != null);
}

/** Decodes nothing until it is released. */
function stuckCodec() {
  let waiting = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const codec: PayloadCodec = {
    encode: (payloads) => Promise.resolve(payloads),
    async decode(payloads) {
      waiting += 1;
      await released;
      return payloads;
    },
  };
  return { codec, waiting: () => waiting, release: () => release() };
}
