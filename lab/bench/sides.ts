/** The two sides of a comparison in one process, each with its worker and its client. */
import { Client, Connection } from '@temporalio/client';
import Sqlite from 'better-sqlite3';
import { connect, type HoldfastClient, type StartOptions } from '../../client/index.js';
import { openStore } from '../../store/store.js';
import {
  createAnthropicProvider,
  type ScriptedModel,
  type TestServer,
} from '../../testing/index.js';
import { startWorker } from '../../worker/index.js';
import type { bareLoop, BareInput } from './bare/loop.js';
import { bareBundle, createBareWorker } from './bare/worker.js';
import { historySize, type HistorySize } from './history-size.js';
import { benchConfig, GOAL, NOWHERE, READ, READER, type Outside } from './setting.js';

export const HELD_QUEUE = 'bench-held';

export interface RunSize {
  readonly turns: number;
  /** Distinguishes runs of one bench. */
  readonly label: string;
}

/** The id says how many turns the scripted model makes of a run. */
export function idOf(side: string, { turns, label }: RunSize): string {
  return `bench-${side}-t${turns}-${label}`;
}

export interface Side {
  readonly client: Client;
  /** Wall time of one run in ms. */
  run(size: RunSize): Promise<number>;
  /** Events and bytes of the histories of a run, over all its segments. */
  history(size: RunSize): Promise<HistorySize>;
  stop(): Promise<void>;
}

export interface HeldSide extends Side {
  readonly holdfast: HoldfastClient;
  /** The same worker with the runs of another agent. */
  as(agent: string): Pick<Side, 'run' | 'history'>;
  /** Bytes of the pages that the store has in use, of all runs. */
  storeBytes(): number;
}

export interface SideOptions {
  readonly server: TestServer;
  readonly model: ScriptedModel;
  /** Default: nothing. */
  readonly outside?: Outside;
  /** Names of the bare loop's tools; default: the one that reads. */
  readonly tools?: readonly string[];
  /** Of the bare loop: its tool is a local activity. */
  readonly localTool?: true;
}

export async function bareSide(
  { server, model, outside = NOWHERE, tools = [READ], localTool }: SideOptions,
  passes: BareInput['passes'],
): Promise<Side> {
  const sideName = `bare-${passes}${localTool ? '-local' : ''}`;
  const taskQueue = `bench-${sideName}`;
  const { worker, run: serve } = await createBareWorker({
    address: server.address,
    taskQueue,
    modelUrl: model.baseUrl,
    workflowBundle: await bareBundle(),
    outside,
    tools,
  });
  const served = serve();
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  return {
    client,
    async run(size) {
      const run = idOf(sideName, size);
      const began = performance.now();
      await client.workflow.execute<typeof bareLoop>('bareLoop', {
        workflowId: run,
        taskQueue,
        args: [{ run, passes, goal: GOAL, turnsMax: size.turns, ...(localTool && { localTool }) }],
      });
      return performance.now() - began;
    },
    history: (size) => historySize(client, idOf(sideName, size)),
    async stop() {
      worker.shutdown();
      await served;
      await connection.close();
    },
  };
}

export async function heldSide({
  server,
  model,
  outside = NOWHERE,
}: SideOptions): Promise<HeldSide> {
  const storePlace = `${server.dataDir}/bench-store.db`;
  const provider = createAnthropicProvider({ apiKey: 'bench', baseUrl: model.baseUrl });
  const place = { address: server.address, namespace: 'default', taskQueue: HELD_QUEUE };
  const worker = await startWorker({
    ...place,
    storePlace,
    config: benchConfig(outside),
    providers: new Map([[provider.name, provider]]),
  });
  const served = worker.run();
  const store = await openStore({ file: storePlace });
  const holdfast = await connect({ ...place, store });
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  const as = (agent: string): Pick<Side, 'run' | 'history'> => {
    const id = (size: RunSize): string => idOf(agent === READER ? 'held' : `held-${agent}`, size);
    return {
      run: (size) => heldRun(holdfast, id(size), { agent }),
      history: (size) => historySize(client, id(size)),
    };
  };
  return {
    client,
    holdfast,
    as,
    ...as(READER),
    storeBytes: () => bytesInUse(storePlace),
    async stop() {
      worker.shutdown();
      await served;
      await connection.close();
      await holdfast.close();
      await store.close();
    },
  };
}

/** What has not been copied from the log into the file counts as well; free pages do not. */
function bytesInUse(file: string): number {
  const db = new Sqlite(file, { readonly: true });
  try {
    const fact = (name: string) => Number(db.pragma(name, { simple: true }));
    return (fact('page_count') - fact('freelist_count')) * fact('page_size');
  } finally {
    db.close();
  }
}

/** Wall time of one run in ms; one that does not complete measures nothing. */
export async function heldRun(
  holdfast: HoldfastClient,
  runId: string,
  options: Partial<StartOptions> = {},
): Promise<number> {
  const began = performance.now();
  const run = await holdfast.start({
    agent: READER,
    task: { goal: GOAL },
    wait: false,
    ...options,
    runId,
  });
  const result = await run.result();
  const took = performance.now() - began;
  if (!result.completed) throw new Error(`${runId} ended with ${result.stopReason}`);
  return took;
}
