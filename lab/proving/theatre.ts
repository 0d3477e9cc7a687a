/**
 * Everything that runs are played on: server, store, tool service, scripted model and workers, each a
 * process of its own where it has to outlive another one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { connect, type HoldfastClient } from '../../client/index.js';
import { openStoreAt, type Store } from '../../store/store.js';
import { startTestServer, type TestServer, type WorkerEntrySettings } from '../../testing/index.js';
import type { Closers } from './closers.js';
import { openLane, type Lane } from './lane.js';
import { STALL_MS } from './model-faults.js';
import { startRecordedModels, type Stage } from './recorded-models.js';
import type { AgentOptions } from './agent-config.js';
import { startToolRelay } from './tool-relay.js';
import { startToolService } from './tool-service-process.js';
import type { Domain } from './domains/domain.js';
import type { InventedTool } from './played-run.js';
import type { Mode } from './tool-store.js';

export interface TheatreOptions {
  readonly domain: Domain;
  readonly mode: Mode;
  readonly quickReads: boolean;
  readonly databaseFiles: readonly string[];
  readonly instructions: string;
  readonly inventedTools: readonly InventedTool[];
  readonly lanes: number;
  /** Default: a file of its own. */
  readonly storePlace?: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface Theatre {
  readonly address: string;
  readonly server: TestServer;
  readonly store: Store;
  readonly serviceUrl: string;
  readonly stage: Stage;
  readonly lanes: readonly OpenLane[];
}

export interface OpenLane extends Lane {
  readonly client: HoldfastClient;
  /** Stops the worker and closes the client. */
  close(): Promise<void>;
}

/** A worker that died takes its cached runs with it; the others must not wait long for them. */
export const STICKY_TIMEOUT_MS = 1_000;

const NAMESPACE = 'default';
const CONFIG_MODULE = join(__dirname, `agent-config${extname(__filename)}`);

/** Opens everything; what is open is given to `closers` at once, so that a failure leaves nothing behind. */
export async function openTheatre(options: TheatreOptions, closers: Closers): Promise<Theatre> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-proving-'));
  closers.add(() => rm(folder, { recursive: true, force: true }));
  const server = await startTestServer({
    environment: process.env,
    onProgress: ({ message }) => options.say(message),
  });
  closers.add(() => server.stop());
  options.signal.throwIfAborted();
  const storePlace = options.storePlace ?? join(folder, 'store.sqlite');
  const store = await openStoreAt(storePlace);
  closers.add(() => store.close());
  const stage: Stage = new Map();
  const model = await startRecordedModels(stage);
  closers.add(() => model.stop());
  const { domain, mode, quickReads } = options;
  const service = await startToolService({
    domain: domain.name,
    mode,
    databaseFiles: options.databaseFiles,
    dataDir: join(folder, 'tools'),
  });
  closers.add(() => service.stop());
  const relay = await startToolRelay({ serviceUrl: service.url, domain }, (runId) =>
    stage.get(runId),
  );
  closers.add(() => relay.stop());
  const { instructions, inventedTools } = options;
  const configOptions: AgentOptions = {
    domain: domain.name,
    mode,
    quickReads,
    toolUrl: relay.url,
    instructions,
    inventedTools: [...inventedTools],
  };
  const base = {
    address: server.address,
    namespace: NAMESPACE,
    storePlace,
    configModule: CONFIG_MODULE,
    configOptions,
    modelUrl: model.baseUrl,
    modelStallMs: STALL_MS,
    stickyTimeoutMs: STICKY_TIMEOUT_MS,
  };
  const lanes: OpenLane[] = [];
  closers.add(async () => void (await Promise.all(lanes.map((lane) => lane.close()))));
  // All of them are waited for: what is open when one fails must be known to be closed.
  const opened = await Promise.allSettled(
    Array.from({ length: options.lanes }, async (_, number) => {
      lanes.push(await openWithClient({ ...base, taskQueue: `proving-${number}` }, store));
    }),
  );
  for (const lane of opened) if (lane.status === 'rejected') throw lane.reason;
  options.signal.throwIfAborted();
  return { address: server.address, server, store, serviceUrl: service.url, stage, lanes };
}

async function openWithClient(settings: WorkerEntrySettings, store: Store): Promise<OpenLane> {
  const { address, namespace, taskQueue } = settings;
  const client = await connect({ address, namespace, taskQueue, store });
  try {
    const lane = await openLane(settings);
    const close = async (): Promise<void> => {
      await lane.stop();
      await client.close();
    };
    return { ...lane, client, close };
  } catch (error) {
    await client.close();
    throw error;
  }
}
