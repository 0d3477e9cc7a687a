/** Everything that a trial needs: the Temporal server, the store, the payment service, the model, two workers. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { connect, type HoldfastClient } from '../../client/index.js';
import { freePort } from '../../devserver/ports.js';
import type { Closers } from '../proving/closers.js';
import { openStoreAt, type Store } from '../../store/store.js';
import {
  seededRandom,
  startScriptedModel,
  startTcpProxy,
  startTestServer,
  type Script,
  type TcpProxy,
  type TestServer,
} from '../../testing/index.js';
import type { ToolKind, TrialOptions } from './options.js';
import { basePackage, todaysPackage, type WorkerPackage } from './packages.js';
import { startPayments, type PaymentService } from './payments.js';
import { startPostgres, type PostgresServer } from './postgres.js';
import { openSlot, type SlotSettings, type WorkerSlot } from './worker-slot.js';

export const TASK_QUEUE = 'chaos';

export interface Place {
  readonly folder: string;
  readonly server: TestServer;
  readonly postgres: PostgresServer | undefined;
  readonly storePlace: string;
  /** Of the trial itself; it is opened again when the store is replaced. */
  store: Store;
  client: HoldfastClient;
  /** Without our payload converter. */
  readonly temporal: Client;
  readonly service: PaymentService;
  readonly workers: readonly WorkerSlot[];
  /** What the first worker reaches server and database through. */
  readonly proxies: readonly TcpProxy[];
}

export interface Opening {
  readonly options: TrialOptions;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Longest time before, and after, the service sends money; ms. */
const PAYMENT_DELAY_MS_MAX = 300;
const CUT_OFF_PAYMENT_DELAY_MS_MAX = 3_000;

/** What is open is given to `closers` at once, so that a failure leaves nothing behind. */
export async function openPlace(opening: Opening, closers: Closers): Promise<Place> {
  const { options, say } = opening;
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-chaos-'));
  closers.add(() => rm(folder, { recursive: true, force: true }));
  // PostgreSQL has an account of its own.
  await chmod(folder, 0o755);
  const today = todaysPackage(folder);
  const packages = { today, other: options.besideBase ? basePackage(folder, say) : today };
  const outside = await openOutside(opening, folder, closers);
  const { workers, proxies } = await openWorkers({ ...opening, outside, packages }, closers);
  const { server, storePlace } = outside;
  const connection = await Connection.connect({ address: server.address });
  closers.add(() => connection.close());
  const store = await openStoreAt(storePlace);
  const client = await connect({ address: server.address, taskQueue: TASK_QUEUE, store });
  const temporal = new Client({ connection });
  const place: Place = { ...outside, folder, store, client, temporal, workers, proxies };
  closers.add(async () => {
    await place.client.close();
    await place.store.close();
  });
  return place;
}

type Outside = Pick<Place, 'server' | 'postgres' | 'storePlace' | 'service'> & {
  readonly modelUrl: string;
};

/** Everything that a worker talks to. */
async function openOutside(
  { options, say, signal }: Opening,
  folder: string,
  closers: Closers,
): Promise<Outside> {
  signal.throwIfAborted();
  const server = await startTestServer({
    environment: process.env,
    onProgress: ({ message }) => say(message),
  });
  closers.add(() => server.stop());
  const postgres = options.postgres ? await openPostgres(folder, closers) : undefined;
  signal.throwIfAborted();
  const service = await startPayments({
    file: join(folder, 'payments.db'),
    seed: options.seed,
    delayMsMax: options.partition > 0 ? CUT_OFF_PAYMENT_DELAY_MS_MAX : PAYMENT_DELAY_MS_MAX,
  });
  closers.add(() => service.stop());
  const model = await startScriptedModel({ script: scriptFor(options) });
  closers.add(() => model.stop());
  const storePlace = postgres?.url ?? join(folder, 'store.db');
  return { server, postgres, storePlace, service, modelUrl: model.baseUrl };
}

interface OpeningWorkers extends Opening {
  readonly outside: Outside;
  readonly packages: { readonly today: WorkerPackage; readonly other: WorkerPackage };
}

async function openWorkers(
  { options, say, outside, packages }: OpeningWorkers,
  closers: Closers,
): Promise<Pick<Place, 'workers' | 'proxies'>> {
  const { server, postgres, storePlace, service, modelUrl } = outside;
  const { address } = server;
  const proxies = options.partition > 0 ? await openProxies({ address, postgres }, closers) : [];
  const [toServer, toStore] = proxies;
  const settings = {
    address,
    namespace: 'default',
    taskQueue: TASK_QUEUE,
    storePlace,
    configOptions: { serviceUrl: service.url },
    modelUrl,
  };
  const throughProxies = {
    ...settings,
    ...(toServer !== undefined && { address: toServer.address }),
    ...(toStore !== undefined && { storePlace: viaProxy(storePlace, toStore) }),
  };
  const open = async (name: string, slot: Omit<SlotSettings, 'say'>): Promise<WorkerSlot> => {
    const worker = openSlot(name, { ...slot, say });
    closers.add(() => worker.stop());
    await worker.serving();
    return worker;
  };
  // The older package first: a store that a newer one has brought up to date is refused by it.
  const first = await open('worker A', { code: packages.other, settings: throughProxies });
  return { workers: [first, await open('worker B', { code: packages.today, settings })], proxies };
}

async function openPostgres(folder: string, closers: Closers): Promise<PostgresServer> {
  const home = await mkdtemp(join(folder, 'postgres-'));
  const postgres = await startPostgres(home, await freePort());
  closers.add(() => postgres.stop());
  return postgres;
}

async function openProxies(
  {
    address,
    postgres,
  }: { readonly address: string; readonly postgres: PostgresServer | undefined },
  closers: Closers,
): Promise<readonly TcpProxy[]> {
  const targets = [address, ...(postgres === undefined ? [] : [postgres.url])];
  const proxies = await Promise.all(targets.map((target) => startTcpProxy({ target })));
  closers.add(async () => void (await Promise.all(proxies.map((proxy) => proxy.stop()))));
  return proxies;
}

function viaProxy(url: string, { address }: TcpProxy): string {
  return url.replace(new URL(url).host, address);
}

export function runIdOf(number: number): string {
  return `chaos-${number}`;
}

export function toolOf({ tools }: Pick<TrialOptions, 'tools'>, runId: string): `pay.${ToolKind}` {
  const number = Number(runId.slice(runId.lastIndexOf('-') + 1));
  return `pay.${tools[number % tools.length] ?? 'repeat'}`;
}

const MODEL_DELAY_MS_MAX = 800;

/** First the payment, then a word; how long the model takes the seed decides. */
function scriptFor(options: TrialOptions): Script {
  const random = seededRandom(options.seed, 2);
  return ({ runId, assistantMessages }) => {
    const delayMs = Math.round(random() * MODEL_DELAY_MS_MAX);
    if (assistantMessages > 0) return { text: 'It is paid.', delayMs };
    return { calls: [{ tool: toolOf(options, runId), input: { amountCents: 500 } }], delayMs };
  };
}
