/**
 * Workers that die at named boundaries. HOLDFAST_WHOLE=1: at all of them, not at some that are drawn; HOLDFAST_SEED: of
 * the draw.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type HoldfastClient, type RunHandle } from '../../client/index.js';
import type { RunEvent } from '../../core/state/event.js';
import { openStore, type Store } from '../../store/store.js';
import {
  CRASH_BOUNDARIES,
  replayRuns,
  scriptOf,
  startScriptedModel,
  startTcpProxy,
  startTestServer,
  type CrashBoundary,
  type ScriptedModel,
  type TcpProxy,
  type TestServer,
  type WorkerProcess,
} from '../../testing/index.js';
import type * as WorkerProcesses from '../../testing/worker-process.js';
import { compiled, compiledPath } from '../compiled.js';
import { drawn } from '../draw.js';
import { SEED, saySeed, WHOLE } from '../seed.js';
import { APPROVER, SETTINGS, TINY } from './support/tiny-agent.js';

const { startWorkerProcess } = compiled<typeof WorkerProcesses>('testing/worker-process.ts');
const LIMIT_MS = 90_000;
const ANSWER_LIMIT_MS = 45_000;

/** Payments by key, in order, duplicates included: what really happened. */
const paid: string[] = [];
/** Runs that went on after the death of their worker. */
const survivors: string[] = [];
let service: Server;
let server: TestServer;
let model: ScriptedModel;
let modelProxy: TcpProxy;
let store: Store;
let storePlace: string;
let folder: string;
let client: HoldfastClient;
let worker: WorkerProcess;

function startService(): Promise<Server> {
  const listening = createServer((request, response) => {
    const [, path, key = ''] = (request.url ?? '').split('/').map(decodeURIComponent);
    if (path === 'pay') paid.push(key);
    response.end(path === 'pay' || paid.includes(key) ? `paid ${key}` : '');
  });
  return new Promise((resolve) => listening.listen(0, '127.0.0.1', () => resolve(listening)));
}

function spawn(): Promise<WorkerProcess> {
  return startWorkerProcess({
    address: server.address,
    namespace: 'default',
    taskQueue: 'holdfast',
    storePlace,
    configModule: compiledPath(join(__dirname, 'support', 'tiny-agent.ts')),
    configOptions: { serviceUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}` },
    modelUrl: modelProxy.url,
    modelStallMs: 1_000,
    stickyTimeoutMs: 500,
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-crash-kit-'));
  storePlace = join(folder, 'store.db');
  [server, service, store] = await Promise.all([
    startTestServer({ environment: process.env }),
    startService(),
    openStore({ file: storePlace }),
  ]);
  model = await startScriptedModel({
    script: (request) => {
      const tool = request.runId.includes('parked') ? 'pay_asked' : 'pay';
      const calls = [{ tool, input: { amountCents: 500 } }];
      const pieces = { chunks: 3, chunkDelayMs: 5 };
      return scriptOf([{ text: 'I pay.', calls, ...pieces }, { text: 'Done.' }])(request);
    },
  });
  modelProxy = await startTcpProxy({ target: model.baseUrl });
  client = await connect({ address: server.address, store });
  worker = await spawn();
}, LIMIT_MS);

afterAll(async () => {
  await client.close();
  await worker.kill();
  await Promise.all([modelProxy.stop(), model.stop(), server.stop(), store.close()]);
  service.close();
  service.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
}, LIMIT_MS);

function begin(runId: string): Promise<RunHandle> {
  const settings = SETTINGS;
  return client.start({
    agent: TINY,
    task: 'Pay.',
    runId,
    settings,
    wait: false,
    decisionTimeoutMs: 1_000,
  });
}

async function eventsOf(runId: string): Promise<readonly RunEvent[]> {
  const query = { sinceSeq: 0, limit: 500 };
  return (await store.readEvents({ tenant: 'default', runId }, query)).events;
}

async function expectPaidOnce(run: RunHandle): Promise<void> {
  const result = await run.result({ timeoutMs: ANSWER_LIMIT_MS });
  expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1 } });
  expect(paid.filter((key) => key.startsWith(run.runId))).toEqual([`${run.runId}:0`]);
  expect(await store.listLedger('default', { runId: run.runId })).toMatchObject([
    { state: 'recorded' },
  ]);
}

/** What is true at each boundary, as far as it shows from outside. */
const SEEN_AT: { readonly [boundary in CrashBoundary]: object } = {
  'before-model-request': { requests: 0, ledger: [], paid: 0 },
  'after-model-request': { requests: 1, ledger: [], paid: 0 },
  'mid-stream': { requests: 1, ledger: [], paid: 0 },
  'after-model-reply': { requests: 1, ledger: [], paid: 0 },
  'before-claim': { requests: 1, ledger: [], paid: 0 },
  'after-claim': { requests: 1, ledger: ['claimed'], paid: 0 },
  'after-effect': { requests: 1, ledger: ['claimed'], paid: 1 },
  'after-record': { requests: 1, ledger: ['recorded'], paid: 1 },
  'after-completion': { requests: 1, ledger: ['recorded'], paid: 1 },
  'while-parked': { requests: 1, ledger: [], paid: 0 },
};

/** Of a call that a person decided on, which is in the audit trail, too. */
const APPROVED = ['before-claim', 'after-claim', 'after-effect', 'after-record'] as const;

async function seen(runId: string): Promise<object> {
  const rows = await store.listLedger('default', { runId });
  return {
    requests: model.requests().filter((request) => request.runId === runId).length,
    ledger: rows.map((row) => row.state),
    paid: paid.filter((key) => key.startsWith(runId)).length,
  };
}

const KILLED_AT = WHOLE ? CRASH_BOUNDARIES : drawn(CRASH_BOUNDARIES, 4, SEED);
const KILLED_AT_APPROVED = WHOLE ? APPROVED : drawn(APPROVED, 1, SEED);

describe('a worker killed at a boundary', () => {
  beforeAll(() => saySeed(`workers killed at ${[...KILLED_AT, ...KILLED_AT_APPROVED].join(', ')}`));

  test.each(KILLED_AT)(
    '%s: stands exactly there, and the payment is made once',
    async (boundary) => {
      const runId = `kill-${boundary.replace('while-', '')}`;
      // The first outcome is that of the model, the second that of the payment.
      const nth = boundary === 'after-completion' ? 1 : 0;
      const { reached } = await worker.standStillAt({ boundary, runId, nth });
      const run = await begin(runId);
      expect(await reached).toMatchObject({ runId });
      expect(await seen(runId)).toEqual(SEEN_AT[boundary]);
      const before = await eventsOf(runId);
      await worker.kill();
      worker = await spawn();
      if (boundary === 'while-parked') await approve(run);
      await expectPaidOnce(run);
      expect((await eventsOf(runId)).slice(0, before.length)).toEqual(before);
      survivors.push(runId);
    },
    LIMIT_MS,
  );

  test.each(KILLED_AT_APPROVED)(
    '%s of a payment that a person approved: stands exactly there, and the payment is made once',
    async (boundary) => {
      const runId = `parked-${boundary}`;
      const { reached } = await worker.standStillAt({ boundary, runId });
      const run = await begin(runId);
      await approve(run);
      expect(await reached).toMatchObject({ runId });
      expect(await seen(runId)).toEqual(SEEN_AT[boundary]);
      await worker.kill();
      worker = await spawn();
      await expectPaidOnce(run);
      survivors.push(runId);
    },
    LIMIT_MS,
  );
});

async function approve(run: RunHandle): Promise<void> {
  const waiting = await run.outcome({ timeoutMs: ANSWER_LIMIT_MS });
  await run.approve(waiting.kind === 'waiting' ? waiting.asks[0]!.askId : '', APPROVER);
}

test('every run whose worker was killed replays', async () => {
  expect(survivors).toHaveLength(KILLED_AT.length + KILLED_AT_APPROVED.length);
  expect([...(await replayRuns({ address: server.address }, survivors))]).toEqual([]);
});

describe('a worker', () => {
  test(
    'that stands still goes on when it is let go',
    async () => {
      const { reached } = await worker.standStillAt({ boundary: 'after-record', runId: 'let-go' });
      const run = await begin('let-go');
      (await reached)?.release();
      await expectPaidOnce(run);
    },
    LIMIT_MS,
  );

  test(
    'frozen past its claim finds it gone, while another one has made the payment',
    async () => {
      const { reached } = await worker.standStillAt({ boundary: 'after-effect', runId: 'frozen' });
      const run = await begin('frozen');
      const standing = await reached;
      worker.freeze();
      const other = await spawn();
      await expectPaidOnce(run);
      worker.unfreeze();
      standing?.release();
      // It works on, as one of two.
      const later = await begin('frozen-later');
      await expectPaidOnce(later);
      expect(await store.listLedger('default', { runId: 'frozen' })).toMatchObject([
        { source: 'probe' },
      ]);
      await other.stop();
    },
    LIMIT_MS,
  );

  test('takes no order for a place, or a kind of work, that there is not', async () => {
    await expect(worker.standStillAt({ boundary: 'after-efect' } as never)).rejects.toMatchObject({
      code: 'InvalidConfig',
      hint: expect.stringMatching(/^Did you mean after-effect\?/) as string,
    });
    const fault = { completion: 'drop', of: 'exeute_tool' } as const;
    await expect(worker.breakCompletion(fault)).rejects.toThrow('The option of of breakCompletion');
  });

  test.each(['drop', 'duplicate'] as const)(
    'whose report of a result suffers a %s: the payment is made once',
    async (completion) => {
      const fault = { completion, of: 'execute_tool', runId: completion };
      const { reached } = await worker.breakCompletion(fault);
      const run = await begin(completion);
      expect(await reached).toBe(completion);
      await expectPaidOnce(run);
      const finished = (await eventsOf(completion)).filter(({ type }) => type === 'tool_finished');
      expect(finished).toHaveLength(1);
    },
    LIMIT_MS,
  );
});

describe('a connection', () => {
  test.each(['cut', 'stall', 'refuse'] as const)(
    'to the model that meets a %s costs a request, and nothing else',
    async (fault) => {
      const { reached } = await worker.standStillAt({
        // A pool looks at an idle connection before it uses it again: that one is cut under way.
        boundary: fault === 'cut' ? 'mid-stream' : 'before-model-request',
        runId: `model-${fault}`,
      });
      const run = await begin(`model-${fault}`);
      const standing = await reached;
      modelProxy[fault]();
      // Open connections would go on.
      if (fault === 'refuse') modelProxy.cut();
      standing?.release();
      await sleep(1_500);
      modelProxy.restore();
      await expectPaidOnce(run);
      const { counters } = await run.result();
      expect(counters.modelCalls).toBe(2);
      const retries = (await eventsOf(run.runId)).filter(({ type }) => type === 'retry');
      expect(retries.length).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});

describe('a server', () => {
  test(
    'that is killed and started on its data goes on with its runs',
    async () => {
      const { reached } = await worker.standStillAt({ boundary: 'after-record', runId: 'server' });
      const run = await begin('server');
      const standing = await reached;
      await server.crash(200);
      standing?.release();
      await expectPaidOnce(run);
    },
    LIMIT_MS,
  );
});
