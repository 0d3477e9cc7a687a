/**
 * A worker: one process that runs workflows and activities of one configuration.
 * Invariants: nothing is served before configuration, store and server have been found good; on shutdown
 * running activities get `shutdownGraceMs` to end, then everything it opened is closed.
 */
import { extname, join } from 'node:path';
import { WorkflowNotFoundError, type PayloadCodec } from '@temporalio/common';
import {
  Runtime,
  Worker,
  type NativeConnection,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { cancelRun } from '../activities/cancel-run.js';
import { describeRun } from '../activities/describe-run.js';
import { fetchHistory } from '../activities/fetch-history.js';
import {
  createActivities,
  createDeciderActivities,
  type ActivityDeps,
} from '../activities/index.js';
import { credentialsOf, type Reach } from '../connection/index.js';
import type { WorkerReadiness } from '../connection/readiness.js';
import type { Activities } from '../core/state/effect.js';
import type { Config, WorkerTuning } from '../authoring/index.js';
import { newRemarks } from '../authoring/remarks.js';
import { checkOptions, type OptionRules } from '../pure/options.js';
import type { Provider } from '../providers/provider.js';
import type { IsolationFound } from '../sandbox/isolation.js';
import { lackingLines, lackingRuns } from '../store/lacking-runs.js';
import { noticedLately, PROMOTED, PROMOTED_MEND } from '../store/restored.js';
import type { CodeNames } from '../store/served.js';
import { createConnectors, type Connectors } from '../connectors/index.js';
import { openStoreAt, type Store, type StoreSync } from '../store/store.js';
import { codeServed, startAnnouncer, type Announcer } from './announcer.js';
import { startArchiver } from './archiver.js';
import { connect } from './connection.js';
import { keepConnected, type LiveConnection } from './live-connection.js';
import { checkModels } from './load-config.js';
import { loadedIn, loadWhole } from './load-whole.js';
import { guardedCodec } from './payload-codecs.js';
import { workerReadiness } from './ready.js';
import type { RunningRounds } from './rounds.js';
import { installRuntime } from './runtime.js';
import { SETTING_RULES } from './setting-rules.js';
import { startSweeper } from './sweeper.js';
import { givenTuning, tuned } from './tuning.js';
import { createWorkerOf, HoldfastWorker } from './vm/holdfast-worker.js';
import { beginThread } from './vm/thread-ahead.js';
import {
  interceptedBundle,
  PAYLOAD_CONVERTER_PATH,
  withStacks,
  workflowBundle,
  workflowCodeId,
} from './workflow-code.js';

const PACKAGE_ENTRY = join(__dirname, '..', `index${extname(__filename)}`);
const PROVIDERS = join(__dirname, '..', 'providers');
const SHUTDOWN_GRACE_MS = 20_000;
/** A worker that cannot end in time is ended, so that a deployment never hangs. */
const SHUTDOWN_FORCE_MS = 60_000;
/** What a worker has not used yet is loaded beside its first work, within its first seconds. */
const REST_MS = 15;
/** A person's stop must reach a running tool soon; heartbeats carry it. */
const HEARTBEAT_THROTTLE_MS = 500;

/** What a worker serves, and where its server and store are. */
export interface WorkerSettings extends Reach, WorkerTuning {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Path of a file, or a `postgres://` URL. */
  readonly storePlace: string;
  /** Of a file: `shared` for a disk whose syncs take milliseconds; default `each`. */
  readonly storeSync?: StoreSync;
  readonly config: Config;
  /** By `ModelRoute.provider`. A model without its provider fails when it is called. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Default 20 s. */
  readonly shutdownGraceMs?: number;
  /** Default: both. Two workers that share the parts can be ended one without the other. */
  readonly serves?: 'workflows' | 'activities';
  /** A worker of workflows alone runs quick reads within its tasks; default: it has no code, and others run them. */
  readonly readsWithinTasks?: boolean;
  /** Task queue of calls in a sandbox whose tools name none, of runs that this worker opens; default: `taskQueue`. */
  readonly sandboxQueue?: string;
  /** What isolates commands; default: what is found on this machine. */
  readonly isolation?: IsolationFound;
  /** What stands in place of the activities, made from what they work with: for test doubles of a worker. */
  readonly activities?: (deps: ActivityDeps) => Activities;
  /** What stands in place of this release's workflow code, and its name in histories: for tests of other releases. */
  readonly release?: { readonly code: string; readonly id: string };
  /**
   * What payloads pass on their way to and from the server, for encryption for instance; default: nothing. A codec
   * throws `UndecodablePayload` for bytes that it can never decode, and any other error for what may pass.
   */
  readonly payloadCodecs?: readonly PayloadCodec[];
  /** Paths of modules with interceptors of workflows, for tracing for instance; they are bundled with the workflows. */
  readonly workflowInterceptors?: readonly string[];
  /** How long a task waits for the worker that knows its run before any other takes it; default 10 s. */
  readonly stickyTimeoutMs?: number;
  /**
   * Errors in workflow code and the query `__stack_trace` name places in the code, for a fifth more of the time that
   * decisions take; default: they do not.
   */
  readonly stackTraces?: boolean;
  /** `IP:port` of the metrics of Temporal's SDK for Prometheus; default: nowhere. The first worker of a process decides. */
  readonly metricsAddress?: string;
  /** What is logged of the SDK; default ERROR: its warnings repeat what events say. */
  readonly logLevel?: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  /** What a person at the terminal should know; default: nobody is told. */
  readonly say?: (line: string) => void;
  /** Pause between two looks for orphans, ms; default 10,000. */
  readonly sweepEveryMs?: number;
  /** Connection attempts before ServerUnavailable; default 10. */
  readonly connectAttemptsMax?: number;
}

const RULES: OptionRules<WorkerSettings> = SETTING_RULES;

/** Errors: InvalidConfig, which names the setting. */
export function checkSettings(settings: WorkerSettings): void {
  checkOptions('startWorker', settings, RULES);
}

/** Without the SDK's worker: its declarations do not compile with every version of Node's. */
export interface RunningWorker {
  /** Serves until shutdown; SIGINT and SIGTERM drain it. */
  run(): Promise<void>;
  /** Says that this is what the activities serve from now on, so that starts find it. Of a worker of workflows: nothing. */
  announce(code: CodeNames): Promise<void>;
  /** Whether the worker takes work, and store and server answer, within a second: for probes. */
  ready(): Promise<WorkerReadiness>;
  /** Begins to drain; `run` ends when it is done. Idempotent. */
  shutdown(): void;
}

/**
 * Starts a worker in this process, which serves what the configuration has. Errors: ServerUnavailable, StoreUnavailable,
 * InvalidConfig.
 */
export async function startWorker(settings: WorkerSettings): Promise<RunningWorker> {
  checkSettings(settings);
  checkModels(settings.config);
  const thread = runsInThread(settings) ? beginThread() : undefined;
  try {
    return await started(settings);
  } finally {
    // The SDK itself runs some code, and some starts fail.
    await thread?.end();
  }
}

/** All that may be used later: by a worker, by its providers, and by its configuration, which imports the package's entry. */
async function loadRest(signal: AbortSignal): Promise<void> {
  for (const file of [__filename, ...loadedIn(PROVIDERS), PACKAGE_ENTRY])
    await loadWhole(file, { restMs: REST_MS, signal });
}

/** Whether a thread of this package is likely to run the workflow code. */
function runsInThread({ serves, stackTraces }: WorkerSettings): boolean {
  return serves !== 'activities' && !stackTraces;
}

async function started(settings: WorkerSettings): Promise<RunningWorker> {
  const store = await openStoreAt(settings.storePlace, settings.storeSync);
  let connection: NativeConnection | undefined;
  let connectors: Connectors | undefined;
  try {
    // Not sooner, since it keeps a process alive: a store that cannot be opened lets the process end.
    installRuntime(settings);
    const { say = (line) => Runtime.instance().logger.warn(line) } = settings;
    for (const line of newRemarks(settings.config)) say(line);
    connection = await connectedTo(settings);
    connectors = createConnectors({ ...settings.config, tokens: store });
    const worker = await createWorker(settings, { connection, store, connectors });
    const beside = besideOf(settings, worker, store);
    const announcer = await announced(settings, worker, store);
    const tell = (line: string): void => Runtime.instance().logger.error(line, {});
    const live = keepConnected({ ...settings, worker, connection, tell: settings.say ?? tell });
    const ready = workerReadiness(worker, store, settings.namespace);
    return running(worker, { live, store, beside, announcer, connectors, ready });
  } catch (error) {
    await connectors?.close();
    // A connection that a worker holds already cannot be closed; the first error is the one to tell.
    await connection?.close().catch(() => undefined);
    await store.close();
    throw error;
  }
}

function connectedTo(settings: WorkerSettings): Promise<NativeConnection> {
  const { address, connectAttemptsMax } = settings;
  return connect({
    address,
    ...credentialsOf(settings),
    ...(connectAttemptsMax !== undefined && { attemptsMax: connectAttemptsMax }),
  });
}

interface Opened {
  readonly connection: NativeConnection;
  readonly store: Store;
  readonly connectors: Connectors;
}

async function createWorker(
  settings: WorkerSettings,
  { connection, store, connectors }: Opened,
): Promise<Worker> {
  const { config, payloadCodecs, stickyTimeoutMs } = settings;
  // Stacks are the SDK's work.
  const kind = settings.stackTraces ? Worker : HoldfastWorker;
  return createWorkerOf(kind, {
    connection,
    namespace: settings.namespace,
    taskQueue: settings.taskQueue,
    ...(settings.serves !== 'activities' && {
      workflowBundle: await servedBundle(settings),
    }),
    // Every workflow task says in its history which code has decided it.
    buildId: settings.release?.id ?? workflowCodeId(),
    dataConverter: {
      payloadConverterPath: PAYLOAD_CONVERTER_PATH,
      ...(payloadCodecs !== undefined && { payloadCodecs: [guardedCodec(payloadCodecs)] }),
    },
    ...activitiesOf(settings, { store, connectors }),
    shutdownGraceTime: settings.shutdownGraceMs ?? SHUTDOWN_GRACE_MS,
    shutdownForceTime: (settings.shutdownGraceMs ?? SHUTDOWN_GRACE_MS) + SHUTDOWN_FORCE_MS,
    ...tuned({ ...config.worker, ...givenTuning(settings) }),
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    ...(stickyTimeoutMs !== undefined && { stickyQueueScheduleToStartTimeout: stickyTimeoutMs }),
  });
}

/** What a worker of workflows alone has, it has for its tasks: nothing is polled for. */
function activitiesOf(
  settings: WorkerSettings,
  { store, connectors }: Pick<Opened, 'store' | 'connectors'>,
): Pick<WorkerOptions, 'activities' | 'enableNonLocalActivities'> {
  const { config, providers, say, serves, readsWithinTasks = false } = settings;
  if (serves === 'workflows' && !readsWithinTasks) {
    return { activities: createDeciderActivities(), enableNonLocalActivities: false };
  }
  const makeActivities = settings.activities ?? createActivities;
  const activities = makeActivities({
    store,
    providers,
    config,
    connectors,
    ...(say !== undefined && { say }),
    serving: {
      namespace: settings.namespace,
      taskQueue: settings.taskQueue,
      ...(settings.sandboxQueue !== undefined && { sandboxQueue: settings.sandboxQueue }),
    },
    ...(settings.isolation !== undefined && { isolation: settings.isolation }),
  }) satisfies Activities;
  return { activities, ...(serves === 'workflows' && { enableNonLocalActivities: false }) };
}

function servedBundle(settings: WorkerSettings) {
  const { release, workflowInterceptors = [], say, stackTraces = false } = settings;
  if (release !== undefined) return { code: release.code };
  const bundle: Promise<WorkflowBundleOption> =
    workflowInterceptors.length === 0
      ? workflowBundle(say)
      : interceptedBundle(workflowInterceptors);
  return stackTraces ? withStacks(bundle) : bundle;
}

/** Starts what is done beside the runs; undefined where this worker has no business with the store. */
function besideOf(
  { namespace, serves, say, sweepEveryMs }: WorkerSettings,
  worker: Worker,
  store: Store,
): (() => readonly RunningRounds[]) | undefined {
  if (serves === 'workflows' || worker.client === undefined) return undefined;
  // Anew each time: the worker has another one when its credentials have changed.
  const connected = (): NonNullable<typeof worker.client> => worker.client!;
  const place = { store, namespace, clock: Date.now };
  const { logger } = Runtime.instance();
  return () => [
    startArchiver({
      ...place,
      fetchHistory: (runId, execution) => fetchHistory(connected(), runId, execution),
      tell: (line, facts) => logger.error(line, { ...facts }),
    }),
    startSweeper({
      ...place,
      ...(sweepEveryMs !== undefined && { everyMs: sweepEveryMs }),
      describe: (runId) => describeRun(connected, runId),
      cancel: (runId, reason) => cancelRun(connected, runId, reason),
      tell: (line, facts) => (say === undefined ? logger.warn(line, { ...facts }) : say(line)),
    }),
  ];
}

const RESTORED =
  'An older copy of the store has taken its place: `holdfast store show` says when, docs/operate/postgres.md in the package holdfast what it lacks.';

/** Says what this worker serves, and which open runs need something else; undefined where it runs no code. */
async function announced(
  settings: WorkerSettings,
  { client }: Worker,
  store: Store,
): Promise<Announcer | undefined> {
  const { namespace, taskQueue, config, providers, serves, say } = settings;
  if (serves === 'workflows') return undefined;
  const queue = { namespace, taskQueue };
  const code = codeServed(config, providers.keys());
  const tell = (line: string): void => Runtime.instance().logger.error(line, {});
  const announcer = await startAnnouncer({ ...queue, store, code, tell });
  if (say === undefined) return announcer;
  const noticed = await noticedLately(store).catch(() => undefined);
  if (noticed?.restoredAt !== undefined) say(RESTORED);
  else if (noticed?.promotedAt !== undefined) say(`The store: ${PROMOTED}. ${PROMOTED_MEND}`);
  // Whoever cannot be told now finds it with `holdfast doctor`.
  const hasEnded = (runId: string): Promise<boolean> => endedRun(client, runId);
  const lacking = await lackingRuns(store, { ...queue, own: code, hasEnded }).catch(
    () => undefined,
  );
  if (lacking !== undefined)
    for (const line of lackingLines(lacking, 'this worker lacks')) say(line);
  return announcer;
}

/** A server that does not know it, or does not answer, says nothing of it. */
async function endedRun(client: Worker['client'], runId: string): Promise<boolean> {
  const described = client?.workflow.getHandle(runId).describe();
  return described === undefined
    ? false
    : described.then(
        ({ status }) => status.name !== 'RUNNING',
        (error: unknown) => error instanceof WorkflowNotFoundError,
      );
}

interface Serving extends Pick<Opened, 'store' | 'connectors'> {
  readonly live: LiveConnection;
  readonly announcer: Announcer | undefined;
  readonly beside: (() => readonly RunningRounds[]) | undefined;
  readonly ready: RunningWorker['ready'];
}

function running(worker: Worker, serving: Serving): RunningWorker {
  const { live, store, beside, announcer, connectors, ready } = serving;
  let served: Promise<void> | undefined;
  const serve = async (): Promise<void> => {
    const rounds = beside?.() ?? [];
    const loading = new AbortController();
    // What cannot be read is told by its first use.
    loadRest(loading.signal).catch(() => undefined);
    try {
      await worker.run();
    } finally {
      loading.abort();
      await announcer?.stop();
      await Promise.all(rounds.map((one) => one.stop()));
      await connectors.close();
      await live.close();
      await store.close();
    }
  };
  return {
    run: () => (served ??= serve()),
    announce: async (code) => announcer?.update(code),
    ready,
    shutdown() {
      // The SDK throws for a worker that is on its way out already.
      if (worker.getState() !== 'RUNNING') return;
      // Nobody should start anything here any more.
      void announcer?.stop();
      worker.shutdown();
    },
  };
}
