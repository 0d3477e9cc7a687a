/** Server, model, store and clients for benches whose workers are processes of their own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { connect, type HoldfastClient } from '../../client/index.js';
import { openStoreAt, type Store, type StoreSync } from '../../store/store.js';
import type { Script, TestServer } from '../../testing/index.js';
import type { BareInput } from './bare/loop.js';
import { bareBundle } from './bare/worker.js';
import { machineFacts, type MachineFacts } from './machine.js';
import {
  CLERK,
  GOAL,
  PAY,
  READ,
  startBenchModel,
  startBenchServer,
  WAIT,
  type BenchOptions,
} from './setting.js';
import { spawnWorker, type BenchWorker, type WorkerSettings } from './worker-process.js';

export type SideName = 'bare' | 'held';

export const queueOf = (side: SideName): string => `bench-${side}`;
/** Turns that no bench here reaches. */
const TURNS_MAX = 10;

export interface PlaceOptions extends BenchOptions {
  readonly script: Script;
  readonly outsideUrl?: string;
  /** Of the store: a URL of PostgreSQL, or a file; default: a file that is removed afterwards. */
  readonly storePlace?: string;
  readonly storeSync?: StoreSync;
  /** Of worker processes, beside those that this process has. */
  readonly workerVariables?: Readonly<Record<string, string>>;
}

type Tuning = Pick<WorkerSettings, 'stickyTimeoutMs' | 'maxCachedWorkflows'>;

export interface StartIn {
  readonly goal?: string;
  readonly heartbeatMs?: number;
}

export interface Place {
  readonly server: TestServer;
  readonly machine: MachineFacts;
  readonly client: Client;
  readonly holdfast: HoldfastClient;
  /** Of the held side. */
  readonly store: Store;
  readonly storePlace: string;
  spawn(side: SideName, tuning?: Tuning): Promise<BenchWorker>;
  /** Starts a run of the clerk, or of the bare loop with the same tools; needs no worker. */
  start(side: SideName, runId: string, options?: StartIn): Promise<void>;
  /** Waits for the end of a run; one that does not complete measures nothing. */
  ended(side: SideName, runId: string): Promise<void>;
  stop(): Promise<void>;
}

export async function openPlace(options: PlaceOptions): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  const bundleFile = join(folder, 'bare-bundle.js');
  const storePlace = options.storePlace ?? join(folder, 'store.db');
  const [server, model, { code }, store] = await Promise.all([
    startBenchServer(options.environment),
    startBenchModel(options.script),
    bareBundle(),
    openStoreAt(storePlace, options.storeSync),
  ]);
  await writeFile(bundleFile, code);
  const { address } = server;
  const machine = await machineFacts(address);
  const holdfast = await connect({
    address,
    namespace: 'default',
    taskQueue: queueOf('held'),
    store,
  });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const workers: BenchWorker[] = [];
  return {
    server,
    machine,
    client,
    holdfast,
    store,
    storePlace,
    async spawn(side, tuning = {}) {
      const settings: WorkerSettings = {
        side,
        address,
        taskQueue: queueOf(side),
        modelUrl: model.baseUrl,
        tools: [READ, WAIT, PAY],
        storePlace,
        ...(options.storeSync !== undefined && { storeSync: options.storeSync }),
        bundleFile,
        ...(options.outsideUrl !== undefined && { outsideUrl: options.outsideUrl }),
        ...tuning,
      };
      const worker = await spawnWorker(settings, options.workerVariables);
      workers.push(worker);
      return worker;
    },
    start: (side, runId, startIn = {}) =>
      side === 'held' ? startHeld(holdfast, runId, startIn) : startBare(client, runId, startIn),
    ended: (side, runId) =>
      side === 'held' ? endedHeld(holdfast, runId) : endedBare(client, runId),
    async stop() {
      await Promise.all(workers.map((worker) => worker.kill()));
      await holdfast.close();
      await connection.close();
      await Promise.all([model.stop(), store.close(), server.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startHeld(
  holdfast: HoldfastClient,
  runId: string,
  { goal = GOAL, heartbeatMs }: StartIn,
): Promise<void> {
  await holdfast.start({
    agent: CLERK,
    task: { goal },
    runId,
    wait: false,
    ...(heartbeatMs !== undefined && {
      settings: { heartbeatMs: { repeatable: heartbeatMs, single: heartbeatMs } },
    }),
  });
}

async function startBare(
  client: Client,
  run: string,
  { goal = GOAL, heartbeatMs }: StartIn,
): Promise<void> {
  const input: BareInput = {
    run,
    passes: 'conversation',
    goal,
    turnsMax: TURNS_MAX,
    gated: PAY,
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  };
  await client.workflow.start('bareLoop', {
    workflowId: run,
    taskQueue: queueOf('bare'),
    args: [input],
  });
}

async function endedHeld(holdfast: HoldfastClient, runId: string): Promise<void> {
  const result = await holdfast.handle(runId).result();
  if (!result.completed) throw new Error(`${runId} ended with ${result.stopReason}`);
}

async function endedBare(client: Client, runId: string): Promise<void> {
  await client.workflow.getHandle(runId).result();
}
