/**
 * What a command works with: the store's file and a client, each opened when first needed and closed at the
 * end. Reading commands work from the store alone, so that a past run can be seen without a server.
 */
import type { Config, ConnectionSettings } from '../authoring/index.js';
import type { HoldfastClient, ReadingStore } from '../client/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { runningServer } from '../devserver/index.js';
import { shownPlace, storeExists } from '../store/place.js';
import type { Store } from '../store/store.js';
import { readEnvironment, type Environment } from '../worker/config.js';
import { withoutName, type ServerReach } from '../worker/reach.js';
import { variablesWith, type CliEnvironment, type PlaceOptions } from './environment.js';

export interface Session {
  readonly place: Environment;
  /**
   * How the server is reached: the named one, else the embedded one. Commands that have loaded the configuration hand
   * its settings over. Errors: ServerUnavailable, InvalidConfig.
   */
  reach(settings?: ConnectionSettings): Promise<KnownReach>;
  /** What environment, profile and configuration name, running or not. Errors: InvalidConfig. */
  named(settings?: ConnectionSettings): Promise<ServerReach>;
  /** The configuration of the folder, where the way to the server was looked for in one. */
  readonly config: () => Config | undefined;
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
  const place = placeOf(environment, options);
  let store: Store | undefined;
  let client: HoldfastClient | undefined;
  let withoutStore: HoldfastClient | undefined;

  async function openedStore(): Promise<Store | undefined> {
    if (store === undefined && storeExists(place().storePlace)) {
      const { openStoreAt } = await import('../store/store.js');
      store = await openStoreAt(place().storePlace, place().storeSync);
    }
    return store;
  }

  const ways = namedIn(place, environment.folder);
  const reach: Session['reach'] = async (given) => reachIn(place(), await ways.named(given));

  const clientWith = async (connectLimitMs: number, opened: ReadingStore | undefined) => {
    const limits = patienceOf(environment, connectLimitMs);
    return connected(place(), { ...(await reach()), ...limits, store: opened });
  };

  async function openedClient(limitMs: number): Promise<HoldfastClient> {
    // Without a server nobody waits for the store.
    if (client === undefined) await reach();
    return (client ??= await clientWith(limitMs, await openedStore()));
  }

  async function clientThoughStoreAway(): Promise<HoldfastClient> {
    try {
      return await openedClient(CONNECT_LIMIT_MS);
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== 'StoreUnavailable') throw error;
      const { awayStore } = await import('../client/index.js');
      return (client = await clientWith(CONNECT_LIMIT_MS, awayStore(error)));
    }
  }

  async function clientWithoutStore(): Promise<HoldfastClient> {
    // A configuration that cannot be loaded is told elsewhere, and says nothing of the server.
    const reached = await reachIn(place(), await ways.named().catch(() => place().reach()));
    const limits = patienceOf(environment, CONNECT_LIMIT_MS);
    return (withoutStore ??= await connected(place(), { ...reached, ...limits }));
  }

  try {
    return await work({
      get place() {
        return place();
      },
      reach,
      ...ways,
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

/** Read when it is asked for: a command that looks at a file has no place. */
function placeOf(environment: CliEnvironment, options: PlaceOptions): () => Environment {
  let known: Environment | undefined;
  return () => (known ??= readEnvironment(variablesWith(environment, options), environment.folder));
}

function patienceOf({ workerLimitMs }: CliEnvironment, connectLimitMs: number) {
  return { connectLimitMs, ...(workerLimitMs !== undefined && { workerLimitMs }) };
}

/** The configuration is loaded once. */
function namedIn(place: () => Environment, folder: string): Pick<Session, 'named' | 'config'> {
  let settings: ConnectionSettings | undefined;
  let config: Config | undefined;
  return {
    async named(given) {
      if (given === undefined && settings === undefined) config ??= await configOf(place(), folder);
      settings ??= given ?? config?.connection;
      return place().reach(settings);
    },
    config: () => config,
  };
}

export type KnownReach = Omit<ServerReach, 'isNamed'>;

interface Place extends KnownReach {
  readonly connectLimitMs: number;
  readonly workerLimitMs?: number;
  readonly store?: ReadingStore | undefined;
}

async function connected(
  { taskQueue }: Environment,
  { store, ...at }: Place,
): Promise<HoldfastClient> {
  const { connect } = await import('../client/index.js');
  return connect({ ...at, taskQueue, ...(store !== undefined && { store }) });
}

/** Of the configuration, where there is one: its codec is what keeps payloads from being sent as they are. */
async function configOf(
  { configFile, withoutConfig }: Environment,
  folder: string,
): Promise<Config | undefined> {
  if (withoutConfig) return undefined;
  const { findConfig, loadConfig } = await import('../worker/load-config.js');
  const file = configFile ?? findConfig(folder);
  return file === undefined ? undefined : loadConfig({ folder, file }).catch(notNeeded);
}

/** Only of a payload codec, or of a server that the configuration names, a client needs to know. */
function notNeeded(error: unknown): never {
  if (!(error instanceof HoldfastError)) throw error;
  const { code, message, hint = '', details } = error;
  const way =
    'This command needs the connection of the configuration alone (server, credentials, payload codec). Where the environment names the server and payloads pass no codec, HOLDFAST_CONFIG=none leaves the configuration out.';
  throw new HoldfastError(code, message, {
    hint: `${hint} ${way}`.trim(),
    ...(details !== undefined && { details }),
    cause: error,
  });
}

function nobodyThere(error: unknown): undefined {
  if (error instanceof HoldfastError && error.code === 'ServerUnavailable') return undefined;
  throw error;
}

/** The named server, else the embedded one of the project's data folder, which wants no credentials. */
async function reachIn(place: Environment, reach: ServerReach): Promise<KnownReach> {
  if (reach.isNamed) return withoutName(reach);
  const running = await runningServer(place.home);
  if (running !== undefined) return embeddedReach(reach, running.address);
  throw new HoldfastError(
    'ServerUnavailable',
    `No Temporal server is running on the data folder ${place.home}.`,
    {
      hint: 'Start one with `holdfast dev` (server and worker) or `holdfast server`, or name yours with --address or HOLDFAST_ADDRESS.',
      details: { home: place.home },
    },
  );
}

export function embeddedReach(reach: ServerReach, address: string): KnownReach {
  const { namespace, payloadCodecs } = reach;
  return { address, namespace, ...(payloadCodecs !== undefined && { payloadCodecs }) };
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
