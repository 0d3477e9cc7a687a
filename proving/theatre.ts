/**
 * Everything that runs are played on: server, store, tool service, scripted model and workers, each a
 * process of its own where it has to outlive another one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { connect, type HoldfastClient } from '../client/index.js';
import { openStore, type Store } from '../store/store.js';
import { startTestServer } from '../testing/index.js';
import type { Closers } from './closers.js';
import { openLane, type Lane } from './lane.js';
import { startRecordedModels, type Stage } from './recorded-models.js';
import type { RetailOptions } from './retail/config.js';
import { startToolRelay } from './tool-relay.js';
import { startToolService } from './tool-service-process.js';

export interface TheatreOptions {
  readonly databaseFiles: readonly string[];
  readonly instructions: string;
  readonly inventedTools: readonly string[];
  readonly lanes: number;
  readonly say: (line: string) => void;
}

export interface Theatre {
  readonly address: string;
  readonly store: Store;
  readonly serviceUrl: string;
  readonly stage: Stage;
  readonly lanes: readonly OpenLane[];
}

export interface OpenLane extends Lane {
  readonly client: HoldfastClient;
}

/** A worker that died takes its cached runs with it; the others must not wait long for them. */
export const STICKY_TIMEOUT_MS = 1_000;

const NAMESPACE = 'default';
const CONFIG_MODULE = join(__dirname, 'retail', `config${extname(__filename)}`);

/** Opens everything; what is open is given to `closers` at once, so that a failure leaves nothing behind. */
export async function openTheatre(options: TheatreOptions, closers: Closers): Promise<Theatre> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-proving-'));
  closers.add(() => rm(folder, { recursive: true, force: true }));
  const server = await startTestServer({
    environment: process.env,
    onProgress: ({ message }) => options.say(message),
  });
  closers.add(() => server.stop());
  const storeFile = join(folder, 'store.sqlite');
  const store = await openStore({ file: storeFile });
  closers.add(() => store.close());
  const stage: Stage = new Map();
  const model = await startRecordedModels(stage);
  closers.add(() => model.stop());
  const service = await startToolService({
    databaseFiles: options.databaseFiles,
    dataDir: join(folder, 'tools'),
  });
  closers.add(() => service.stop());
  const relay = await startToolRelay(service.url, (runId) => stage.get(runId)?.kill);
  closers.add(() => relay.stop());
  const { instructions, inventedTools } = options;
  const configOptions: RetailOptions = {
    toolUrl: relay.url,
    instructions,
    inventedTools: [...inventedTools],
  };
  const base = {
    address: server.address,
    namespace: NAMESPACE,
    storeFile,
    configModule: CONFIG_MODULE,
    configOptions,
    modelUrl: model.baseUrl,
    stickyTimeoutMs: STICKY_TIMEOUT_MS,
  };
  const open = async (number: number): Promise<OpenLane> => {
    const taskQueue = `proving-${number}`;
    const client = await connect({
      address: server.address,
      namespace: NAMESPACE,
      taskQueue,
      store,
    });
    closers.add(() => client.close());
    if (number === 0) await client.ensureNamespaceReady();
    const lane = await openLane({ ...base, taskQueue });
    closers.add(() => lane.stop());
    return { ...lane, client };
  };
  const first = await open(0);
  const others = await Promise.all(
    Array.from({ length: options.lanes - 1 }, (_, number) => open(number + 1)),
  );
  const lanes = [first, ...others];
  return { address: server.address, store, serviceUrl: service.url, stage, lanes };
}
