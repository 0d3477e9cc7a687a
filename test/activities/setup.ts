/** A store in a temporary folder, a scripted model, and activities in a mock of Temporal's environment. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createActivities, type ActivityDeps } from '../../activities/index.js';
import {
  defineAgent,
  defineConfig,
  type Config,
  type Hook,
  type Tool,
} from '../../authoring/index.js';
import type { MediaTaken } from '../../core/state/attachment.js';
import { callDigest, type Json } from '../../core/json/json.js';
import type {
  Acknowledged,
  CallModelInput,
  ExecuteToolInput,
  ToolCallRef,
  Activities,
} from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import type { BudgetOverrides, SettingsOverrides } from '../../core/state/task.js';
import { createAnthropicProvider } from '../../providers/anthropic.js';
import type { Provider } from '../../providers/provider.js';
import { resolveRoute } from '../../providers/routes.js';
import { scriptOf, type ScriptedAnswer } from '../../providers/scripted/script.js';
import { startScriptedModel, type ScriptedModel } from '../../providers/scripted/server.js';
import { openStore, type Store } from '../../store/store.js';

export const RUN = { tenant: 'default', runId: 'run_1', traceId: 'trace' } as const;
export const EXECUTION = 'exec-1';
export const ROUTE = resolveRoute('scripted/test');

export interface Bed {
  readonly store: Store;
  readonly folder: string;
  readonly config: Config;
  readonly model: ScriptedModel;
  readonly activities: (changes?: Partial<ActivityDeps>) => Activities;
  end(): Promise<void>;
}

export interface BedOptions {
  readonly tools?: readonly Tool[];
  readonly replies?: readonly ScriptedAnswer[];
  readonly instructions?: string;
  readonly hooks?: readonly Hook[];
  readonly settings?: SettingsOverrides;
  readonly budget?: BudgetOverrides;
  /** What the model of the route reads beside text. */
  readonly takes?: MediaTaken;
}

export async function startBed(options: BedOptions = {}): Promise<Bed> {
  const {
    tools = [],
    replies = [],
    instructions = 'Help.',
    hooks = [],
    settings = {},
    budget = {},
    takes,
  } = options;
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-activities-'));
  const store = await openStore({ file: join(folder, 'store.db') });
  const model = await startScriptedModel({ script: scriptOf(replies) });
  const provider = createAnthropicProvider({ apiKey: 'test', baseUrl: model.baseUrl });
  const written = {
    name: 'helper',
    model: ROUTE.name,
    instructions,
    tools,
    hooks,
    settings,
    budget,
  };
  const config = defineConfig({
    agents: [defineAgent(written)],
    ...(takes !== undefined && { routes: [{ ...ROUTE, takes }] }),
  });
  return {
    store,
    folder,
    config,
    model,
    activities: (changes = {}) =>
      createActivities({
        store,
        config,
        providers: new Map<string, Provider>([['anthropic', provider]]),
        graceMs: 100,
        ...changes,
      }),
    async end() {
      await model.stop();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let nextActivity = 1;

/** Ids of a fresh effect; reuse the result to play a redelivery of the same one. */
export interface EffectInfo {
  readonly activityId: string;
  readonly workflowExecution: { readonly workflowId: string; readonly runId: string };
  readonly heartbeatTimeoutMs: number;
  /** Which delivery of the activity it is; default 1. */
  readonly attempt?: number;
}

export function effect(id = `effect-${nextActivity++}`): EffectInfo {
  return {
    activityId: id,
    workflowExecution: { workflowId: RUN.runId, runId: EXECUTION },
    heartbeatTimeoutMs: 300,
  };
}

const say = (): void => undefined;
const SILENT = { log: say, trace: say, debug: say, info: say, warn: say, error: say };

/** Temporal's side of one attempt, without its log. */
export function environmentOf(info: EffectInfo): MockActivityEnvironment {
  return new MockActivityEnvironment(
    { startToCloseTimeoutMs: 60_000, ...info },
    { logger: SILENT },
  );
}

/** Runs one attempt of an activity; how long it worked is left out, because no two tries work as long. */
export async function attempt<I, O extends object>(
  activity: (input: I) => Promise<O>,
  input: I,
  info: EffectInfo = effect(),
): Promise<O> {
  const output = await environmentOf(info).run<[I], O, (input: I) => Promise<O>>(activity, input);
  const { workedMs: _, ...rest } = output as O & Acknowledged;
  return rest as O;
}

/** The failure with which an attempt ends. */
/** An attempt at this model call of which nobody has heard: it may have been billed up to these bounds. */
export async function startUnheardAttempt({ store }: Bed, info: EffectInfo): Promise<void> {
  await store.startAttempt({
    ...RUN,
    effectId: `${info.activityId}@${EXECUTION}`,
    kind: 'model',
    boundCostMicroUsd: 20_000,
    boundInputTokens: 500,
    boundOutputTokens: 1_000,
    startedAt: 1,
  });
}

export async function failureFrom(work: Promise<unknown>): Promise<ApplicationFailure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ApplicationFailure) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

export function sessionEvent(seq = 0): RunEvent {
  return {
    type: 'warning',
    code: 'late_input',
    message: `event ${seq}`,
    stamp: {
      seq,
      runId: RUN.runId,
      traceId: RUN.traceId,
      at: 1,
      phase: 'initializing',
      step: 0,
      turn: 0,
    },
  };
}

/** Opens a run and gives the head of its transcript. */
export async function openedHead(bed: Bed): Promise<string> {
  const opened = await attempt(bed.activities().open_run, {
    v: 1,
    run: RUN,
    segment: 0,
    start: { v: 1, agent: 'helper', task: { goal: 'Do it.' } },
    events: [],
  });
  if (opened.head === undefined) throw new Error('not opened');
  return opened.head;
}

export function modelInput(head: string, changes: Partial<CallModelInput> = {}): CallModelInput {
  return {
    v: 1,
    run: RUN,
    call: 1,
    head,
    append: [{ kind: 'user', messageId: 'run_1:m0', content: { text: 'Do it.' } }],
    replyMessageId: 'run_1:m1',
    route: ROUTE,
    maxTokens: 1_000,
    temperature: 1,
    bound: { inputTokens: 500, costMicroUsd: 20_000 },
    left: { costMicroUsd: 1_000_000, inputTokens: null, outputTokens: null },
    maxRetries: { serverError: 3, other: 6 },
    events: [],
    ...changes,
  };
}

export interface CallFacts {
  readonly key?: string;
  readonly attempt?: number;
  readonly toolVersion?: string;
}

export function callOf(tool: string, args: Json, facts: CallFacts = {}): ToolCallRef {
  const { key = 'run_1:1', attempt: number = 1, toolVersion = '1' } = facts;
  const digest = callDigest({ tool, toolVersion, args });
  return { callId: 'c1', callKey: '1', key, tool, toolVersion, args, digest, attempt: number };
}

export function executeInput(
  call: ToolCallRef,
  changes: Partial<ExecuteToolInput> = {},
): ExecuteToolInput {
  return {
    v: 1,
    run: RUN,
    call,
    grant: {
      basis: 'ask',
      reference: 'run_1:1',
      digest: call.digest,
      policyVersion: '0',
      approvedBy: ['ada'],
    },
    timeoutMs: 2_000,
    inlineBytesMax: 4_096,
    maxRetries: 1,
    events: [],
    ...changes,
  };
}
