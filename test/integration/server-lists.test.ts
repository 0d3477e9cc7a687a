/** Lists with what Temporal alone knows: without a store, of runs that no worker has taken up or that were terminated. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { Desk } from '../../console/desk.js';
import type { Endpoint } from '../../console/http/endpoint.js';
import type { Person } from '../../console/identity/person.js';
import { inboxEndpoints } from '../../console/routes/inbox.js';
import { openStore } from '../../store/store.js';
import { askView, eventsFrom, SESSION_INIT } from '../store/fixtures.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '../../cli/program.js';
import { connect, type HoldfastClient } from '../../client/index.js';
import { startTestServer, type TestServer } from '../../testing/index.js';

/** Temporal's list lags by a moment. */
const LAG_LIMIT_MS = 60_000;
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
});

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

test('a named store that is not there is told beside what Temporal tells', async () => {
  await untilListed('one');
  const listed = async (variables: Readonly<Record<string, string>>) => {
    const said = { out: '', err: '' };
    const streams = {
      out: (text: string) => void (said.out += text),
      err: (text: string) => void (said.err += text),
    };
    const environment = { variables, folder: tmpdir(), colour: false, interactive: false };
    const words = ['list', '--tenant', 'one', '--address', server.address];
    expect(await runCli(words, { environment, streams })).toBe(0);
    expect(said.out).toContain('clerk.2');
    return said.err;
  };
  const missing = join(tmpdir(), 'holdfast-nowhere', 'x.db');
  const remark = `There is no store at ${missing}. Temporal tells this list.\n`;
  expect(await listed({ HOLDFAST_STORE: missing })).toBe(remark);
  const home = { HOLDFAST_HOME: join(tmpdir(), 'holdfast-nowhere') };
  expect(await listed(home)).toBe('');
});

test('a run that was terminated before any worker had it is listed as that, and not among those at work', async () => {
  const own = client.forTenant('ending');
  for (const runId of ['at-work', 'ended'])
    await own.start({ agent: 'clerk', task: 'Wait.', runId, wait: false });
  const connection = await Connection.connect({ address: server.address });
  try {
    await new Client({ connection }).workflow.getHandle('ended').terminate('the operator');
    const statuses = async (status?: 'running') => {
      const runs = await own.listRuns({ limit: 10, ...(status !== undefined && { status }) });
      return runs.map((run) => `${run.runId} ${run.status}`).toSorted();
    };
    for (let waited = 0; waited < LAG_LIMIT_MS; waited += POLL_MS) {
      if ((await statuses()).includes('ended terminated')) break;
      await sleep(POLL_MS);
    }
    expect(await statuses()).toEqual(['at-work running', 'ended terminated']);
    expect(await statuses('running')).toEqual(['at-work running']);
  } finally {
    await connection.close();
  }
});

test('questions of a run that was terminated wait for nobody', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-ended-'));
  const store = await openStore({ file: join(folder, 'store.db') });
  const knowing = await connect({ address: server.address, store, tenant: 'asked' });
  const connection = await Connection.connect({ address: server.address });
  const { workflow } = new Client({ connection });
  const open = async () => (await knowing.listAsks({ limit: 2 })).map(({ runId }) => runId);
  const untilOpen = async (...wanted: readonly string[]) => {
    for (let waited = 0; waited < LAG_LIMIT_MS; waited += POLL_MS) {
      if ((await open()).join() === wanted.join()) break;
      await sleep(POLL_MS);
    }
    return open();
  };
  try {
    for (const runId of ['x', 'y', 'z']) {
      await knowing.start({ agent: 'clerk', task: 'Wait.', runId, wait: false });
      const asked = { type: 'approval_requested', ...askView(`${runId}:0`) } as const;
      const source = { tenant: 'asked', runId, execution: 'e' };
      await store.appendEvents(source, eventsFrom(0, [SESSION_INIT, asked]));
    }
    expect(await open()).toEqual(['x', 'y']);
    await workflow.getHandle('x').terminate('the operator');
    expect(await untilOpen('y', 'z')).toEqual(['y', 'z']);
    const views = { note: () => Promise.resolve() };
    const settings = { access: {}, deciders: [] };
    const desk = { client: knowing, store, views, settings, clock: () => 0 } as unknown as Desk;
    const person = { tenant: 'asked', roles: ['clerk'] } as unknown as Person;
    const [listInbox] = inboxEndpoints.filter(({ name }) => name === 'listInbox');
    const asked = { desk, person, query: { state: 'pending', limit: 9 } };
    const answer = await listInbox?.handle(asked as unknown as Parameters<Endpoint['handle']>[0]);
    const items = [{ runId: 'y' }, { runId: 'z' }];
    expect(answer).toMatchObject({ body: { total: 2, items } });
    await knowing.close();
    // Without the server the store's word is all there is.
    expect((await store.listAsks('asked', { limit: 9, pendingOnly: true })).length).toBe(3);
  } finally {
    await connection.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
