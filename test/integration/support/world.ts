/**
 * A world for one test file: a Temporal server, a store, a scripted model, the service that tools act on,
 * workers and a client. Every run that ends here is checked for what must hold of any run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { connect, type ConnectOptions, type HoldfastClient } from '../../../client/index.js';
import { retries } from '../../../client/retries.js';
import type { RunHandle } from '../../../client/runs/run-handle.js';
import type { StartOptions } from '../../../client/runs/start-run.js';
import type { EventType, RunEvent } from '../../../core/state/event.js';
import type { AskView } from '../../../core/state/ask-view.js';
import { checkEvent, startChecking } from '../../../pure/invariants.js';
import type { RunResult } from '../../../core/state/result.js';
import { openStoreAt, type Store, type StoreSync } from '../../../store/store.js';
import {
  createAnthropicProvider,
  scriptOf,
  startScriptedModel,
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  type TestServer,
  type WorkerEntrySettings,
  type WorkerProcess,
} from '../../../testing/index.js';
import { startWorker, type RunningWorker, type WorkerSettings } from '../../../worker/index.js';
import type * as WorkerProcesses from '../../../testing/worker-process.js';
import { compiled, compiledPath } from '../../compiled.js';
import { newPostgresUrl } from '../../postgres-server.js';
import { AGENT, config } from './agents.js';
import { activitiesRecorded, leaveBundles } from './recording.js';
import { PATIENT } from './patience.js';
import { serverFor, type ServerPlace } from './server.js';
import { startService, type Service } from './service.js';
import { orWhereItStands } from './stuck-run.js';

const { startWorkerProcess } = compiled<typeof WorkerProcesses>('testing/worker-process.ts');

export const TASK_QUEUE = 'holdfast';
/** A script under this name is that of every run that has none. */
export const ANY_RUN = 'any';
/** Longest wait for anything that should happen at once: the machine may have much else to do. */
const WAIT_LIMIT_MS = 150_000;

export type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

export interface World {
  /** Where its runs are: everything that reaches for them needs both. */
  readonly place: ServerPlace;
  /** To be killed: only with `ownServer`. */
  readonly server: TestServer;
  readonly store: Store;
  readonly storePlace: string;
  /** Of its client, and of every client and desk over it. */
  readonly patience: Pick<ConnectOptions, 'workerLimitMs' | 'connectLimitMs'>;
  readonly model: ScriptedModel;
  readonly service: Service;
  readonly client: HoldfastClient;
  /** Without our payload converter: what any Temporal user has. */
  readonly raw: Client;
  serve(over?: Partial<WorkerSettings>): Promise<RunningWorker>;
  /** A worker of this process drains; resolves when it has ended. */
  retire(worker: RunningWorker): Promise<void>;
  /** A worker of its own process, to be killed. */
  spawn(over?: Partial<WorkerEntrySettings>): Promise<WorkerProcess>;
  script(runId: string, script: Script | readonly ScriptedAnswer[]): void;
  start(run: StartIn): Promise<RunHandle>;
  /** The result of a run, its events, its history; checked. */
  ended(run: RunHandle): Promise<Ended>;
  events(runId: string): Promise<readonly RunEvent[]>;
  history(runId: string, execution?: string): Promise<History>;
  requests(runId: string): ReturnType<ScriptedModel['requests']>;
  stop(): Promise<void>;
}

export interface StartIn extends Partial<Omit<StartOptions, 'runId'>> {
  readonly runId: string;
  readonly replies: Script | readonly ScriptedAnswer[];
}

export interface Ended {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  readonly history: History;
}

export interface WorldOptions {
  /** With a server of its own. */
  readonly dynamicConfig?: readonly string[];
  /** Default false: a namespace of its own in the server of all tests, which nobody may kill. */
  readonly ownServer?: boolean;
  /** Default: a file of its own. */
  readonly storePlace?: string;
  /** Of the store and of all workers; default `each`. */
  readonly storeSync?: StoreSync;
  /** Default true: a worker in this process. */
  readonly worker?: boolean;
  readonly workerSettings?: Partial<WorkerSettings>;
  /** Longest wait of a client for a worker, in ms: where a test has workers die, that of users. */
  readonly workerLimitMs?: number;
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-integration-'));
  const storePlace = options.storePlace ?? (await placeIn(folder));
  const scripts = new Map<string, Script>();
  const [server, service, model, store] = await Promise.all([
    serverFor(options),
    startService(),
    startScriptedModel({
      script: (request) =>
        (scripts.get(request.runId) ?? scripts.get(ANY_RUN) ?? scriptOf([]))(request),
    }),
    openStoreAt(storePlace, options.storeSync),
  ]);
  const place: ServerPlace = { address: server.address, namespace: server.namespace };
  const { address, namespace } = place;
  const { workerLimitMs = PATIENT.workerLimitMs } = options;
  const patience = { workerLimitMs, connectLimitMs: WAIT_LIMIT_MS };
  const client = await connect({ ...place, ...patience, store });
  const retrying = retries();
  const connection = await Connection.connect({ address, interceptors: [retrying.interceptor] });
  const raw = new Client({ connection, namespace });
  const workers: { readonly worker: RunningWorker; readonly served: Promise<void> }[] = [];
  const processes: WorkerProcess[] = [];
  const provider = createAnthropicProvider({ apiKey: 'scripted', baseUrl: model.baseUrl });
  const configOptions = { serviceUrl: service.url };
  const world: World = {
    place,
    server,
    store,
    storePlace,
    patience,
    model,
    service,
    client,
    raw,
    async serve(over = {}) {
      const activities = activitiesRecorded();
      const worker = await startWorker({
        address,
        namespace,
        taskQueue: TASK_QUEUE,
        storePlace,
        ...(options.storeSync && { storeSync: options.storeSync }),
        config: config(configOptions),
        providers: new Map([[provider.name, provider]]),
        stickyTimeoutMs: 1_000,
        shutdownGraceMs: 1_000,
        logLevel: 'ERROR',
        ...(activities !== undefined && { activities }),
        ...options.workerSettings,
        ...over,
      });
      workers.push({ worker, served: worker.run() });
      return worker;
    },
    async retire(retired) {
      retired.shutdown();
      await workers.find(({ worker }) => worker === retired)?.served;
    },
    async spawn(over = {}) {
      const spawned = await startWorkerProcess({
        address,
        namespace,
        taskQueue: TASK_QUEUE,
        storePlace,
        ...(options.storeSync && { storeSync: options.storeSync }),
        configOptions,
        modelUrl: model.baseUrl,
        stickyTimeoutMs: 1_000,
        ...over,
        configModule: compiledPath(over.configModule ?? join(__dirname, 'agents.ts')),
      });
      processes.push(spawned);
      return spawned;
    },
    script(runId, script) {
      scripts.set(runId, typeof script === 'function' ? script : scriptOf(script));
    },
    start({ replies, ...start }) {
      world.script(start.runId, replies);
      return client.start({ agent: AGENT, task: 'Serve the customer.', ...start });
    },
    async ended(run) {
      const handle = raw.workflow.getHandle(run.runId);
      const result = await orWhereItStands(run.result({ timeoutMs: WAIT_LIMIT_MS }), handle);
      const events = await world.events(run.runId);
      const history = await world.history(run.runId);
      expectWhole(events, result);
      expect(failedTasks(history)).toEqual([]);
      return { result, events, history };
    },
    events: (runId) => allEvents(store, runId),
    history: (runId, execution) => raw.workflow.getHandle(runId, execution).fetchHistory(),
    requests: (runId) => model.requests().filter((request) => request.runId === runId),
    async stop() {
      await leaveBundles(world);
      await client.close();
      for (const { worker } of workers) worker.shutdown();
      await Promise.all(workers.map(({ served }) => served));
      await Promise.all(processes.map((spawned) => spawned.kill()));
      await retrying.settle();
      await connection.close();
      await Promise.all([model.stop(), service.stop(), server.stop(), store.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
  if (options.worker !== false) await world.serve();
  return world;
}

/** With HOLDFAST_TEST_STORE=postgres every world has its store there. */
async function placeIn(folder: string): Promise<string> {
  const inPostgres = process.env['HOLDFAST_TEST_STORE'] === 'postgres';
  return inPostgres ? newPostgresUrl() : join(folder, 'store.db');
}

async function allEvents(store: Store, runId: string): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const page = await store.readEvents(
      { tenant: 'default', runId },
      { sinceSeq: events.length, limit: 500 },
    );
    if (page.events.length === 0) return events;
    events.push(...page.events);
  }
}

/** Gap-free from `session_init` to `run_result`, and every invariant of events. */
export function expectWhole(events: readonly RunEvent[], result: RunResult): void {
  let state = startChecking();
  const violations: string[] = [];
  for (const event of events) {
    const checked = checkEvent(state, event);
    state = checked.state;
    violations.push(...checked.violations);
  }
  expect(violations).toEqual([]);
  expect(events.map((event) => event.stamp.seq)).toEqual(events.map((_, index) => index));
  expect(events).toHaveLength(result.trace.events);
  expect(events.at(-1)).toMatchObject({ type: 'run_result' });
}

/** `WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND` of Temporal's API. */
const UNHANDLED_COMMAND = 1;

/** Reasons of workflow tasks that failed: there must be none. A reset is written down as one, too. */
export function failedTasks(history: History): readonly string[] {
  return (history.events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed && !failed.newRunId && !isOvertaken(failed.cause)
      ? [failed.failure?.message ?? String(failed.cause)]
      : [],
  );
}

/** A signal arrived while the task ended its execution: the server asks for the task again, as it should. */
function isOvertaken(cause: unknown): boolean {
  return cause === UNHANDLED_COMMAND;
}

export type EventOf<Type extends EventType> = Extract<RunEvent, { type: Type }>;

export function ofType<Type extends EventType>(
  events: readonly RunEvent[],
  type: Type,
): readonly EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

export function warnings(events: readonly RunEvent[]): readonly string[] {
  return ofType(events, 'warning').map((event) => event.code);
}

/**
 * Waits until `probe` gives something. A busy worker may take longer than a client waits for it: such a probe is made
 * again. Fails with the last such error, or with the words of what was waited for.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  limitMs = WAIT_LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  let unanswered: unknown;
  while (performance.now() < deadline) {
    try {
      const found = await probe();
      if (found !== undefined) return found;
      unanswered = undefined;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ServerUnavailable') throw error;
      unanswered = error;
    }
    await sleep(50);
  }
  throw new Error(`waited ${limitMs} ms for ${what}`, { cause: unanswered });
}

/** The one question that the run waits with. */
export async function openAsk(run: RunHandle): Promise<AskView> {
  const outcome = await run.outcome({ timeoutMs: WAIT_LIMIT_MS });
  if (outcome.kind !== 'waiting') {
    throw new Error(`the run ended: ${JSON.stringify(outcome.result)}`);
  }
  return outcome.asks[0]!;
}

export const call = (
  tool: string,
  input: { [name: string]: string | number | string[] },
  text?: string,
) => ({
  ...(text !== undefined && { text }),
  calls: [{ tool, input }],
});

export const read = (item = 'lamp') => call('facts.read', { item });
export const pay = (tool: string, amountCents = 500) => call(tool, { order: 'A1', amountCents });
export const say = (text: string) => ({ text });
