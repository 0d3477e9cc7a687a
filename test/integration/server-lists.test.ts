/** Lists of runs as Temporal alone gives them: without a store, and of runs that no worker has taken up. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type HoldfastClient } from '../../client/index.js';
import { startTestServer, type TestServer } from '../../testing/index.js';

/** Temporal's list lags by a moment. */
const LAG_LIMIT_MS = 15_000;
const POLL_MS = 100;

let server: TestServer;
let client: HoldfastClient;

beforeAll(async () => {
  server = await startTestServer({ environment: process.env });
  client = await connect({ address: server.address });
  for (const [tenant, runId, agent] of [
    ['one', 'a', 'clerk.2'],
    ['other', 'b', 'clerk'],
  ] as const) {
    await client.forTenant(tenant).start({ agent, task: 'Wait.', runId, wait: false });
  }
}, 60_000);

afterAll(async () => {
  await client.close();
  await server.stop();
});

async function listed(tenant: string, filter: { readonly agent?: string } = {}) {
  const runs = await client.forTenant(tenant).listRuns({ limit: 10, ...filter });
  return runs.map(({ runId }) => runId);
}

async function untilListed(tenant: string): Promise<readonly string[]> {
  for (let waited = 0; waited < LAG_LIMIT_MS; waited += POLL_MS) {
    const runs = await listed(tenant);
    if (runs.length > 0) return runs;
    await sleep(POLL_MS);
  }
  return [];
}

test('a tenant sees its own runs only', async () => {
  expect(await untilListed('one')).toEqual(['a']);
  expect(await untilListed('other')).toEqual(['b']);
  expect(await listed('nobody')).toEqual([]);
  expect(await listed("one' OR HoldfastTenant = 'other")).toEqual([]);
});

test('an agent is found by its exact name', async () => {
  await untilListed('one');
  expect(await listed('one', { agent: 'clerk.2' })).toEqual(['a']);
  expect(await listed('one', { agent: 'clerk' })).toEqual([]);
  expect(await listed('other', { agent: "clerk' OR HoldfastAgent = 'clerk.2" })).toEqual([]);
});
