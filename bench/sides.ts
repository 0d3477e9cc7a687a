/** The two sides of every comparison, each a function that runs one run and says how long it took. */
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { connect, type HoldfastClient } from '../client/index.js';
import { openStore } from '../store/store.js';
import { createAnthropicProvider, type ScriptedModel, type TestServer } from '../testing/index.js';
import { startWorker } from '../worker/index.js';
import { bareActivities } from './bare/activities.js';
import type { bareLoop } from './bare/loop.js';
import {
  BARE_QUEUE,
  BARE_TOOLS,
  BARE_WORKFLOWS,
  benchConfig,
  GOAL,
  HELD_QUEUE,
  INSTRUCTIONS,
  MODEL,
  readOrder,
} from './setting.js';

export interface RunSize {
  readonly turns: number;
  /** Distinguishes runs of one bench. */
  readonly label: string;
}

export interface Side {
  /** Wall time of one run in ms. */
  run(size: RunSize): Promise<number>;
  /** Events and bytes of the histories of a run, over all its segments. */
  history(size: RunSize): Promise<{ readonly events: number; readonly bytes: number }>;
  stop(): Promise<void>;
}

export interface SideOptions {
  readonly server: TestServer;
  readonly model: ScriptedModel;
}

function idOf(side: string, size: RunSize): string {
  return `bench-${side}-t${size.turns}-${size.label}`;
}

export async function bareSide(
  { server, model }: SideOptions,
  passes: 'conversation' | 'delta',
): Promise<Side> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: BARE_WORKFLOWS,
    logger: new DefaultLogger('ERROR'),
  });
  const native = await NativeConnection.connect({ address: server.address });
  const taskQueue = `${BARE_QUEUE}-${passes}`;
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle: { code },
    activities: bareActivities({
      baseUrl: model.baseUrl,
      model: MODEL,
      system: INSTRUCTIONS,
      tools: BARE_TOOLS,
      runTool: (_name, args) => readOrder((args as { orderId: string }).orderId),
    }),
  });
  const served = worker.run();
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  return {
    async run(size) {
      const run = idOf(`bare-${passes}`, size);
      const began = performance.now();
      await client.workflow.execute<typeof bareLoop>('bareLoop', {
        workflowId: run,
        taskQueue,
        args: [{ run, passes, goal: GOAL, turnsMax: size.turns }],
      });
      return performance.now() - began;
    },
    history: (size) => historyOf(client, idOf(`bare-${passes}`, size)),
    async stop() {
      worker.shutdown();
      await served;
      await connection.close();
      await native.close();
    },
  };
}

export async function heldSide({ server, model }: SideOptions): Promise<Side> {
  const storeFile = `${server.dataDir}/bench-store.db`;
  const provider = createAnthropicProvider({ apiKey: 'bench', baseUrl: model.baseUrl });
  const place = { address: server.address, namespace: 'default', taskQueue: HELD_QUEUE };
  const worker = await startWorker({
    ...place,
    storeFile,
    config: benchConfig(),
    providers: new Map([[provider.name, provider]]),
  });
  const served = worker.run();
  const store = await openStore({ file: storeFile });
  const holdfast = await connect({ ...place, store });
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  return {
    run: (size) => heldRun(holdfast, idOf('held', size)),
    history: (size) => historyOf(client, idOf('held', size)),
    async stop() {
      worker.shutdown();
      await served;
      await connection.close();
      await holdfast.close();
      await store.close();
    },
  };
}

async function heldRun(holdfast: HoldfastClient, runId: string): Promise<number> {
  const began = performance.now();
  const run = await holdfast.start({ agent: 'bench', task: { goal: GOAL }, runId, wait: false });
  const result = await run.result();
  const took = performance.now() - began;
  if (!result.completed) throw new Error(`${runId} ended with ${result.stopReason}`);
  return took;
}

const SEGMENTS_MAX = 100;

/** Adds up the segments of a run, newest first. */
async function historyOf(client: Client, workflowId: string) {
  let events = 0;
  let bytes = 0;
  let runId: string | undefined;
  for (let segment = 0; segment < SEGMENTS_MAX; segment += 1) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const description = await handle.describe();
    events += description.historyLength;
    bytes += description.historySize ?? 0;
    // The first event alone: a whole history may be larger than one message.
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace: 'default',
      execution: { workflowId, runId: description.runId },
      maximumPageSize: 1,
    });
    const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
    runId = started?.continuedExecutionRunId || undefined;
    if (runId === undefined) break;
  }
  return { events, bytes };
}
