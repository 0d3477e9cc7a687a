/** Settings of a worker: a list that is closed, since a typing error would serve something else without a word. */
import type { PayloadCodec } from '@temporalio/common';
import type { ActivityDeps } from '../activities/index.js';
import { isConfig, type Config, type WorkerTuning } from '../authoring/index.js';
import type { Reach } from '../connection/index.js';
import { ADDRESS_RULE, REACH_RULES } from '../connection/reach-rules.js';
import type { Activities } from '../core/state/effect.js';
import {
  AMOUNT,
  CALLBACK,
  checkOptions,
  COUNT,
  each,
  FIELDS,
  FLAG,
  LIST,
  oneOf,
  TEXT,
  type OptionRule,
  type OptionRules,
} from '../pure/options.js';
import type { Provider } from '../providers/provider.js';
import type { IsolationFound } from '../sandbox/isolation.js';
import type { StoreSync } from '../store/store.js';

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
  /** What is logged of the SDK; default ERROR: its warnings repeat what events say. */
  readonly logLevel?: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  /** What a person at the terminal should know; default: nobody is told. */
  readonly say?: (line: string) => void;
  /** Pause between two looks for orphans, ms; default 10,000. */
  readonly sweepEveryMs?: number;
  /** Connection attempts before ServerUnavailable; default 10. */
  readonly connectAttemptsMax?: number;
}

const needed = (rule: OptionRule): OptionRule => ({ ...rule, isNeeded: true });

const RULES: OptionRules<WorkerSettings> = {
  address: needed(ADDRESS_RULE),
  ...each(needed(TEXT), 'namespace taskQueue storePlace'),
  storeSync: oneOf('each', 'shared'),
  config: needed({ is: 'what defineConfig gives', fits: isConfig }),
  providers: needed({
    is: 'a Map of providers by their names, as providersOf gives it',
    fits: (value) => typeof (value as Map<string, unknown> | null)?.get === 'function',
  }),
  ...REACH_RULES,
  ...each(COUNT, 'decisionsAtOnce activitiesAtOnce workflowPollers activityPollers'),
  ...each(AMOUNT, 'maxCachedWorkflows activitiesPerSecond queueActivitiesPerSecond'),
  ...each(AMOUNT, 'shutdownGraceMs stickyTimeoutMs sweepEveryMs connectAttemptsMax'),
  serves: oneOf('workflows', 'activities'),
  logLevel: oneOf('DEBUG', 'INFO', 'WARN', 'ERROR'),
  ...each(FLAG, 'readsWithinTasks stackTraces'),
  sandboxQueue: TEXT,
  ...each(FIELDS, 'isolation release'),
  ...each(CALLBACK, 'activities say'),
  ...each(LIST, 'payloadCodecs workflowInterceptors'),
};

/** Errors: InvalidConfig, which names the setting. */
export function checkSettings(settings: unknown): asserts settings is WorkerSettings {
  checkOptions('startWorker', settings, RULES);
}
