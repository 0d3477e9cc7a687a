/**
 * What a command works with: the store's file and a client, each opened when first needed and closed at the
 * end. Reading commands work from the store alone, so that a past run can be seen without a server.
 */
import type { HoldfastClient, ReadingStore } from '../client/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { runningServer } from '../devserver/index.js';
import { shownPlace, storeExists } from '../store/place.js';
import type { Store } from '../store/store.js';
import { readEnvironment, type Environment } from '../worker/config.js';
import { variablesWith, type CliEnvironment, type PlaceOptions } from './environment.js';

export interface Session {
  readonly place: Environment;
  /** The workers' store; undefined while there is none. */
  store(): Promise<ReadingStore | undefined>;
  /** The same with everything in it, for what reads more than events. */
  wholeStore(): Promise<Store | undefined>;
  /** Errors: ServerUnavailable. */
  client(): Promise<HoldfastClient>;
  /** The client also while the store cannot be opened: what needs the store then says so. Errors: ServerUnavailable. */
  clientThoughStoreAway(): Promise<HoldfastClient>;
  /** One that knows no store, for what the server alone can say. Errors: ServerUnavailable. */
  clientWithoutStore(): Promise<HoldfastClient>;
  /** The client, or undefined when no server can be reached within a moment. */
  tryClient(): Promise<HoldfastClient | undefined>;
}

const CONNECT_LIMIT_MS = 5_000;
const TRY_LIMIT_MS = 1_500;

export async function withSession<T>(
  environment: CliEnvironment,
  options: PlaceOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const variables = variablesWith(environment, options);
  const place = readEnvironment(variables, environment.folder);
  let store: Store | undefined;
  let client: HoldfastClient | undefined;
  let withoutStore: HoldfastClient | undefined;

  async function openedStore(): Promise<Store | undefined> {
    if (store === undefined && storeExists(place.storePlace)) {
      const { openStoreAt } = await import('../store/store.js');
      store = await openStoreAt(place.storePlace);
    }
    return store;
  }

  async function openedClient(connectLimitMs: number): Promise<HoldfastClient> {
    if (client !== undefined) return client;
    // Without a server nobody waits for the store.
    const address = await addressOf(variables, place);
    client = await connected(place, { address, connectLimitMs, store: await openedStore() });
    return client;
  }

  async function clientThoughStoreAway(): Promise<HoldfastClient> {
    try {
      return await openedClient(CONNECT_LIMIT_MS);
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== 'StoreUnavailable') throw error;
      const { awayStore } = await import('../client/index.js');
      const address = await addressOf(variables, place);
      const connectLimitMs = CONNECT_LIMIT_MS;
      client = await connected(place, { address, connectLimitMs, store: awayStore(error) });
      return client;
    }
  }

  async function clientWithoutStore(): Promise<HoldfastClient> {
    const address = await addressOf(variables, place);
    withoutStore ??= await connected(place, { address, connectLimitMs: CONNECT_LIMIT_MS });
    return withoutStore;
  }

  try {
    return await work({
      place,
      store: openedStore,
      wholeStore: openedStore,
      client: () => openedClient(CONNECT_LIMIT_MS),
      clientThoughStoreAway,
      clientWithoutStore,
      tryClient: () => openedClient(TRY_LIMIT_MS).catch(nobodyThere),
    });
  } finally {
    await client?.close();
    await withoutStore?.close();
    await store?.close();
  }
}

interface Place {
  readonly address: string;
  readonly connectLimitMs: number;
  readonly store?: ReadingStore | undefined;
}

async function connected(
  { namespace, taskQueue }: Environment,
  { store, ...at }: Place,
): Promise<HoldfastClient> {
  const { connect } = await import('../client/index.js');
  return connect({ ...at, namespace, taskQueue, ...(store !== undefined && { store }) });
}

function nobodyThere(error: unknown): undefined {
  if (error instanceof HoldfastError && error.code === 'ServerUnavailable') return undefined;
  throw error;
}

/** The configured address, else the embedded server of the project's data folder. */
export async function addressOf(
  variables: Readonly<Record<string, string | undefined>>,
  place: Environment,
): Promise<string> {
  if (variables.HOLDFAST_ADDRESS !== undefined) return place.address;
  const running = await runningServer(place.home);
  if (running !== undefined) return running.address;
  throw new HoldfastError(
    'ServerUnavailable',
    `No Temporal server is running on the data folder ${place.home}.`,
    {
      hint: 'Start one with `holdfast dev` (server and worker) or `holdfast server`, or name yours with --address or HOLDFAST_ADDRESS.',
      details: { home: place.home },
    },
  );
}

/** The whole store, for commands that are nothing without it. Errors: StoreUnavailable. */
export async function neededStore(session: Session): Promise<Store> {
  const store = await session.wholeStore();
  if (store !== undefined) return store;
  const place = shownPlace(session.place.storePlace);
  throw new HoldfastError('StoreUnavailable', `There is no store at ${place}.`, {
    hint: 'Name the store of your workers with --store or HOLDFAST_STORE.',
  });
}
