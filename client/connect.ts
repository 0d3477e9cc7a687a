/** The public client: starting runs and reaching those that exist. */
import { join, extname } from 'node:path';
import { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { credentialsOf, type Reach } from '../connection/index.js';
import { checkOptions, type OptionRules } from '../pure/options.js';
import type { AskRow } from '../store/asks.js';
import type { RunRow } from '../store/runs.js';
import type { SessionEntry, SessionsQuery } from '../store/sessions.js';
import { TASK_QUEUE } from '../workflows/messages.js';
import { CLIENT_CALLS } from './call-rules.js';
import { checkedCalls } from './checked-calls.js';
import { CONNECT_RULES } from './connect-rules.js';
import type { DeskSigner } from './decide/desk-signer.js';
import { ownExecution } from './runs/execution.js';
import { historyAccess, type HistoryAccess } from './runs/history-access.js';
import type { PendingQuery } from './read/ended-runs.js';
import { askOfRun, findAsk, type FoundAsk } from './decide/find-ask.js';
import { type Link, type ReadingStore, storeOf } from './link.js';
import { openConnection } from './live-connection.js';
import type { ListQuery } from './read/joined-page.js';
import { joinedRuns, standingRows, unopenedRun, type JoinedRuns } from './read/joined-runs.js';
import { listAsks, listRuns } from './read/lists.js';
import { ensureNamespaceReady, namespaceFacts, type NamespaceFacts } from './namespace.js';
import { queriesOver, type OpenQuery } from './query/typed-output.js';
import { goalHandle, type GoalHandle } from './goals/goal-handle.js';
import { listGoals, type GoalsQuery, type GoalSummary } from './goals/list-goals.js';
import {
  restartGoal,
  startGoal,
  type GoalStartOptions,
  type RestartOptions,
} from './goals/start-goal.js';
import type { ScheduleOptions } from './schedules/check-schedule.js';
import {
  createSchedule,
  listSchedules,
  scheduleHandle,
  type ScheduleHandle,
  type ScheduleSummary,
} from './schedules/schedules.js';
import { runHandle, type RunHandle } from './runs/run-handle.js';
import { attach, type Attachable, type MessageOptions } from './runs/attach.js';
import type { Attachment } from '../core/state/attachment.js';
import type { RunSummary } from './read/run-summary.js';
import { forkGoal, type GoalForkOptions } from './goals/fork-goal.js';
import { startFork, type ForkOptions } from './runs/start-fork.js';
import { startRun, type StartOptions } from './runs/start-run.js';
import { headOf, readTranscript, type Transcript } from './read/transcript.js';
import { subAgentTranscripts, type SubAgentTranscripts } from './read/tree-transcript.js';
import {
  wholeMoments,
  wholeTreeMoments,
  type FollowTreeOptions,
  type WholeMoment,
  type WholeTreeMoment,
} from './read/whole-event.js';
import type { FollowOptions } from './runs/follow-run.js';
import { sessionNow, type SessionNow } from './runs/open-runs.js';
import { conversations, type Conversations } from './read/conversations.js';
import { stuckRuns, type StuckQuery, type StuckRun } from './read/stuck-runs.js';
import type { Wait } from './read/waits.js';
import { pollers, workerCount, type Poller } from './workers.js';

/** Which server, namespace, queue and store a client works with. */
export interface ConnectOptions extends Reach {
  /** `host:port` of the Temporal server; default `localhost:7233`. */
  readonly address?: string;
  readonly namespace?: string;
  readonly taskQueue?: string;
  /** Tenant of runs that name none; default `default`. */
  readonly tenant?: string;
  /**
   * The store that the workers write, opened with `openStore`. Without it events are only what a run still
   * holds, and lists are what Temporal still keeps.
   */
  readonly store?: ReadingStore;
  /** Signs the decisions that are made over this client. Only a desk that authenticates people has one. */
  readonly signer?: DeskSigner;
  /** Those of the workers: what payloads pass on their way to and from the server; default: nothing. */
  readonly payloadCodecs?: readonly PayloadCodec[];
  /** Longest wait for the connection, in ms; default 5,000. */
  readonly connectLimitMs?: number;
  /**
   * Longest wait for an answer that a worker must give, in ms; default 5,000. Where it is more than half a minute, a run
   * that is started is given as long to open.
   */
  readonly workerLimitMs?: number;
  /** Told when the credentials have changed, or cannot be renewed; default: nobody. */
  readonly say?: (line: string) => void;
}

/**
 * Starts runs and goals, reads them, and decides what they ask. Made by `connect`. Errors of its calls and of those of its
 * handles: InvalidTask for an argument that cannot be used, and for an option that there is not. `decide`, `provideInput`
 * and the fields of files are not checked so: whoever gets them judges them.
 */
export interface HoldfastClient {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Registers missing search attributes. Call it once where workers are deployed. */
  ensureNamespaceReady(): Promise<void>;
  namespaceFacts(): Promise<NamespaceFacts>;
  /**
   * Starts a run and waits until it is open. The same id again gives the run that exists.
   * Errors: InvalidTask, UnknownAgent, RunExists (the id belongs to a run that has ended,
   * or to one of another tenant), ServerUnavailable;
   * of its session: SessionNotFound, SessionExists, SessionBusy (a run of it is still open).
   */
  start(options: StartOptions): Promise<RunHandle>;
  /**
   * Starts a fork of a recorded run from a state that `forkRun` makes: call that one. A call that the run, or another fork of
   * it, handed over asks a person first. Errors: ForkRefused, RunExists, ServerUnavailable.
   */
  fork(options: ForkOptions): Promise<RunHandle>;
  /**
   * Starts a fork of a recorded goal from a checkpoint of it; its runs ask before they do again what any run of that goal
   * did. Errors: TranscriptMissing, and those of startGoal; MessageRefused, with the new goal as `runId`, when it has ended
   * before it read the message.
   */
  forkGoal(options: GoalForkOptions): Promise<GoalHandle>;
  /** Says something to a run as its user; the same id again is ignored. Gives the id. Errors: InvalidTask, RunNotFound. */
  message(runId: string, text: string, message?: string | MessageOptions): Promise<string>;
  /**
   * Puts a file into the store, for the task of a start or a message. Errors: UnsupportedContent, StoreUnavailable.
   */
  attach(file: Attachable): Promise<Attachment>;
  /** A run by its id; whether it is there is not looked at before the first call. */
  handle(runId: string, tenant?: string): RunHandle;
  /**
   * Starts a goal and waits until it is open. The same id with the same definition gives that goal, also when it has
   * ended. Errors: InvalidTask, UnknownAgent, RunExists (the id is taken by anything else), ServerUnavailable.
   */
  startGoal(options: GoalStartOptions): Promise<GoalHandle>;
  /** A goal by its id; whether it is there is not looked at before the first call. */
  goal(goalId: string, tenant?: string): GoalHandle;
  /**
   * A new goal that goes on with another one: its plan, state and measurements, with money and counts from zero. Needs a
   * store. Errors: as `startGoal`; RunNotFound, StoreUnavailable.
   */
  restartGoal(goalId: string, options?: RestartOptions): Promise<GoalHandle>;
  /** Newest first. */
  listGoals(query: GoalsQuery): Promise<readonly GoalSummary[]>;
  /**
   * Starts runs or goals at times, for the client's tenant. What a tick starts has the id `<schedule>-<time>`, as
   * `nightly-2026-11-23T09:00:00Z`. Errors: InvalidTask, ScheduleExists, ServerUnavailable.
   */
  createSchedule(options: ScheduleOptions): Promise<ScheduleHandle>;
  /** A schedule by its id; nothing is checked before the first call. */
  schedule(scheduleId: string): ScheduleHandle;
  /** Those of the client's tenant, by their ids, at most 1,000; Temporal's list lags by a moment. */
  listSchedules(): Promise<readonly ScheduleSummary[]>;
  /**
   * A run by its id, once the server has said that it is this tenant's: for whoever acts for people of several
   * tenants. Errors: RunNotFound, also for a run of another tenant.
   */
  ownRun(runId: string): Promise<RunHandle>;
  /**
   * A run as a stream of messages with controls; starts when the first message is asked for. Needs a store.
   * Errors: see `query`.
   */
  readonly query: OpenQuery;
  /** The same connection for another tenant; closing either closes both. */
  forTenant(tenant: string): HoldfastClient;
  /**
   * An ask with its run; while the store is away the run has to be named, and must be open. Errors: AskNotFound,
   * StoreUnavailable.
   */
  findAsk(askId: string, runId?: string): Promise<FoundAsk>;
  /** Newest first. */
  listRuns(query: ListQuery): Promise<readonly RunSummary[]>;
  /**
   * The same from the store, in pages, with what Temporal alone knows; its `trouble` says why that may be missing. Needs a
   * store. Errors: ServerUnavailable, for runs that Temporal ended.
   */
  joinedRuns(query: ListQuery): Promise<JoinedRuns>;
  /** How runs that were read from the store stand by what Temporal knows of them. */
  standingRows(rows: readonly RunRow[]): Promise<Pick<JoinedRuns, 'rows' | 'trouble'>>;
  /** A run or goal that the store has nothing of, as far as Temporal's list has it. Errors: ServerUnavailable. */
  unopenedRun(runId: string): Promise<RunRow | undefined>;
  /**
   * What waits for a person, oldest first. Needs a store. Without questions of runs that Temporal has ended, as far
   * as the server can be asked.
   */
  listAsks(query: PendingQuery): Promise<readonly AskRow[]>;
  /**
   * Events and tokens of a run as one sequence, in the order of their causes, with whole texts and arguments. Ends with
   * the run. Needs a store. Errors: StoreUnavailable, RunNotFound.
   */
  follow(runId: string, options?: FollowOptions): AsyncGenerator<WholeMoment, void, undefined>;
  /** The same with the events of the sub-agents below the run, each between the start and the end of its call. */
  followTree(
    runId: string,
    options?: FollowTreeOptions,
  ): AsyncGenerator<WholeTreeMoment, void, undefined>;
  /** One stored session, and runs of it that have not ended. Needs a store. */
  session(sessionId: string): Promise<SessionNow>;
  /** Where messages of users stand in runs: for whoever keeps chats. */
  readonly conversations: Conversations;
  /** Stored sessions, newest first. Needs a store. */
  listSessions(query: SessionsQuery): Promise<readonly SessionEntry[]>;
  /**
   * The conversation of a session or of a run; that of one under way so far as it is stored, for which a worker is
   * asked. Needs a store. Errors: SessionNotFound.
   */
  transcript(id: string): Promise<Transcript>;
  /** The conversations of the sub-agents below a run, so far as they are stored. Needs a store. */
  subAgentTranscripts(runId: string): Promise<SubAgentTranscripts>;
  /** Runs whose workflow task or activity keeps failing, or that have waited for more than 60 s. */
  stuckRuns(query: StuckQuery): Promise<readonly StuckRun[]>;
  /**
   * What a run of the client's tenant waits for, the longest wait first; needs neither a worker nor the store.
   * Errors: RunNotFound, also for a run of another tenant.
   */
  waits(runId: string): Promise<readonly Wait[]>;
  /**
   * What the histories of a run or goal of the client's tenant are read over. Errors: RunNotFound, also for one of
   * another tenant.
   */
  historiesOf(runId: string): Promise<HistoryAccess>;
  /** Workers that asked for work on the task queue, or on this one, within the last minutes. */
  workerCount(queue?: string): Promise<number>;
  /** The same one by one. */
  pollers(queue?: string): Promise<readonly Poller[]>;
  close(): Promise<void>;
}

const DEFAULT_ADDRESS = 'localhost:7233';
/** Sources run under tsx and jest, compiled files from dist; both lie in the same layout. */
const PAYLOAD_CONVERTER_PATH = join(
  __dirname,
  '..',
  'workflows',
  `payload-converter${extname(__filename)}`,
);

/** Connects within a bounded time. Errors: ServerUnavailable; InvalidConfig, which names the option. */
export async function connect(options: ConnectOptions = {}): Promise<HoldfastClient> {
  const { link, close } = await openLink(options);
  return clientOver(link, close);
}

const RULES: OptionRules<ConnectOptions> = CONNECT_RULES;

/** Errors: InvalidConfig, which names the option. */
export function checkConnect(options: unknown): void {
  checkOptions('connect', options, RULES);
}

export interface OpenLink {
  readonly link: Link;
  close(): Promise<void>;
}

/** Errors: ServerUnavailable, InvalidConfig. */
export async function openLink(options: ConnectOptions): Promise<OpenLink> {
  checkConnect(options);
  const place = {
    address: options.address ?? DEFAULT_ADDRESS,
    namespace: options.namespace ?? 'default',
    taskQueue: options.taskQueue ?? TASK_QUEUE,
  };
  const { store, signer, payloadCodecs, workerLimitMs } = options;
  const live = await openConnection({ ...options, ...place, limitMs: options.connectLimitMs });
  const { connection } = live;
  const temporal = new Client({
    connection,
    namespace: place.namespace,
    dataConverter: {
      payloadConverterPath: PAYLOAD_CONVERTER_PATH,
      ...(payloadCodecs !== undefined && { payloadCodecs: [...payloadCodecs] }),
    },
  });
  const tenant = options.tenant ?? 'default';
  let isClosed = false;
  return {
    link: {
      connection,
      temporal,
      ...place,
      ...credentialsOf(options),
      tenant,
      store,
      ...(signer && { signer }),
      ...(payloadCodecs !== undefined && { payloadCodecs }),
      ...(workerLimitMs !== undefined && { workerLimitMs }),
      isClosed: () => isClosed,
    },
    close: () => {
      isClosed = true;
      return live.close();
    },
  };
}

export function clientOver(link: Link, close: () => Promise<void>): HoldfastClient {
  const { address, namespace, taskQueue } = link;
  const calls: HoldfastClient = {
    address,
    namespace,
    taskQueue,
    ensureNamespaceReady: () => ensureNamespaceReady(link),
    namespaceFacts: () => namespaceFacts(link),
    start: (options) => startRun(link, options),
    fork: (options) => startFork(link, options),
    forkGoal: async (options) => goalHandle(link, await forkGoal(link, options)),
    message: (runId, text, message) => runHandle(link, runId).sendMessage(text, message),
    attach: (file) => attach(link, file),
    handle: (runId, tenant) => runHandle(tenant === undefined ? link : { ...link, tenant }, runId),
    startGoal: async (options) => {
      const goalId = await startGoal(link, options);
      return goalHandle({ ...link, tenant: options.tenant ?? link.tenant }, goalId);
    },
    goal: (goalId, tenant) => goalHandle(tenant === undefined ? link : { ...link, tenant }, goalId),
    restartGoal: async (goalId, options) =>
      goalHandle(link, await restartGoal(link, goalId, options)),
    listGoals: (query) => listGoals(link, query),
    createSchedule: (options) => createSchedule(link, options),
    schedule: (scheduleId) => scheduleHandle(link, scheduleId),
    listSchedules: () => listSchedules(link),
    ownRun: async (runId) => {
      await ownExecution(link, runId, 'brief');
      return runHandle(link, runId);
    },
    query: queriesOver(async () => ({ link, release: async () => undefined })),
    forTenant: (tenant) => clientOver({ ...link, tenant }, close),
    findAsk: (askId, runId) =>
      runId === undefined ? findAsk(link, askId) : askOfRun(link, runId, askId),
    listRuns: (query) => listRuns(link, query),
    joinedRuns: async (query) => joinedRuns(link, storeOf(link), query),
    standingRows: (rows) => standingRows(link, rows),
    unopenedRun: (runId) => unopenedRun(link, runId),
    listAsks: (query) => listAsks(link, query),
    follow: (runId, options = {}) => wholeMoments(link, runId, options),
    followTree: (runId, options = {}) => wholeTreeMoments(link, runId, options),
    session: (sessionId) => sessionNow(link, sessionId),
    conversations: conversations(link),
    listSessions: async (query) => storeOf(link).listSessions(link.tenant, query),
    transcript: async (id) =>
      readTranscript(storeOf(link), { tenant: link.tenant, id }, (runId) =>
        headOf(runHandle(link, runId)),
      ),
    subAgentTranscripts: async (id) =>
      subAgentTranscripts(storeOf(link), { tenant: link.tenant, id }, (runId) =>
        headOf(runHandle(link, runId)),
      ),
    stuckRuns: (query) => stuckRuns(link, query),
    waits: async (runId) => (await ownExecution(link, runId)).waits,
    historiesOf: (runId) => historyAccess(link, runId),
    workerCount: (queue) => workerCount(link, queue),
    pollers: (queue) => pollers(link, queue),
    close,
  };
  return checkedCalls(calls, CLIENT_CALLS);
}
