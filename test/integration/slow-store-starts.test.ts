/** Starts with a short limit over a store that is slow, and there. */
import { defineAgent, defineConfig } from '../../authoring/index.js';
import { connect, type ConnectOptions, type HoldfastClient } from '../../client/index.js';
import { resolveRoute } from '../../providers/routes.js';
import { png } from '../attachment-files.js';
import { ANY_RUN, say, startWorld, type World } from './support/world.js';

const EYES = 'scripted/eyes';
const AGENT = 'seer';
const config = defineConfig({
  agents: [defineAgent({ name: AGENT, model: EYES, instructions: 'Look.', tools: [] })],
  routes: [{ ...resolveRoute(EYES), takes: { image: 1_600 } }],
});

let world: World;
let clients: HoldfastClient[] = [];
beforeAll(async () => void (world = await startWorld({ workerSettings: { config } })));
afterEach(async () => {
  for (const client of clients) await client.close();
  clients = [];
});
afterAll(() => world.stop());

type SlowCall = 'putBlob' | 'identity';

/** A client whose store takes that long for one of its calls. */
async function slowIn(slowCall: SlowCall, ms: number): Promise<HoldfastClient> {
  const store = new Proxy(world.store, {
    get(calls, name) {
      const call: unknown = Reflect.get(calls, name);
      if (typeof call !== 'function') return call;
      return async (...args: unknown[]): Promise<unknown> => {
        if (name === slowCall) await new Promise((resolve) => setTimeout(resolve, ms));
        return call.apply(calls, args);
      };
    },
  });
  const options: ConnectOptions = { ...world.place, ...world.patience, store };
  const client = await connect(options);
  clients.push(client);
  return client;
}

test('files that are long on their way take nothing of the wait until the run is open', async () => {
  world.script(ANY_RUN, [say('A cat.')]);
  const client = await slowIn('putBlob', 5_500);
  const attachments = [{ data: png(), name: 'cat.png' }];
  const task = 'Look.';
  const run = await client.start({ agent: AGENT, task, attachments, openLimitMs: 5_000 });
  await world.ended(world.client.handle(run.runId));
}, 60_000);

test('a run carries the id of its store, however short the limit of its start is', async () => {
  world.script(ANY_RUN, [say('Done.')]);
  const client = await slowIn('identity', 2_000);
  const start = { runId: 'own', agent: AGENT, task: 'x', openLimitMs: 1_000 };
  await client.start({ ...start, wait: false });
  const { events } = await world.raw.workflow.getHandle('own').fetchHistory();
  const [input] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const { id } = await world.store.identity(Date.now());
  expect(Buffer.from(input?.data ?? []).toString()).toContain(id);
  await world.ended(world.client.handle('own'));
}, 60_000);
