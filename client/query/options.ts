/**
 * What a query may be asked to do, and the start that it becomes.
 * Invariant: an option that nothing would come of is refused by name, never ignored (design §12).
 */
import type { AskView } from '../../core/event.js';
import type { GrantRequest } from '../../core/ask/grants.js';
import { HoldfastError } from '../../core/errors.js';
import type { Json } from '../../core/json.js';
import type { PermissionMode } from '../../core/permission-mode.js';
import type { BudgetOverrides, SettingsOverrides, Task } from '../../core/task.js';
import type { SessionOptions } from '../choose-session.js';
import type { Answer, Decider } from '../decide.js';
import type { StartOptions } from '../start-run.js';

/** A message of the user, as it goes in. */
export type UserPrompt =
  | string
  | {
      readonly type: 'user';
      readonly message: {
        readonly role: 'user';
        readonly content: string | readonly { readonly type: 'text'; readonly text: string }[];
      };
      /** The same id again is ignored. */
      readonly uuid?: string;
    };

/** What the caller's process says of a call that needs a word. */
export type PermissionResult =
  | {
      readonly behavior: 'allow';
      /** Other arguments for the call; checked and bound anew before they are used. */
      readonly updatedInput?: { readonly [name: string]: Json };
      /** Covers later calls as well, where the run's settings allow it. */
      readonly grant?: GrantRequest;
    }
  | {
      readonly behavior: 'deny';
      readonly message: string;
      /** Stops the run as well. */
      readonly interrupt?: boolean;
    };

export interface PermissionContext {
  /** Aborted when nobody needs the answer any more: somebody else decided, time is over, the query was left. */
  readonly signal: AbortSignal;
  readonly toolUseID: string;
  /** The question, with its expiry, roles and hash. */
  readonly ask: AskView;
}

/**
 * Answers approvals. null: leaves it to somebody else. A callback that throws decides nothing: the question
 * stays open, and the query ends with what was thrown.
 */
export type CanUseTool = (
  toolName: string,
  input: { readonly [name: string]: Json },
  context: PermissionContext,
) => Promise<PermissionResult | null>;

/** An answer to a question that is no approval of a call. */
export type QuestionReply =
  | Answer
  | { readonly kind: 'approve'; readonly amount?: number }
  | { readonly kind: 'reject'; readonly reason?: string };

/** Answers clarifying questions, unknown outcomes and questions about a budget; null as above. */
export type OnQuestion = (
  ask: AskView,
  context: { readonly signal: AbortSignal },
) => Promise<QuestionReply | null>;

/** How a run is followed, whoever started it. */
export interface FollowOptions {
  readonly canUseTool?: CanUseTool;
  readonly onQuestion?: OnQuestion;
  /** As whom the callbacks decide; default `{by: 'query'}` without a role. */
  readonly decider?: Omit<Decider, 'reason'>;
  /** Ends the run when the loop is left before its result; default: it goes on. */
  readonly closeOnReturn?: boolean;
  /** Aborting it cancels the run; the stream goes on to the result. */
  readonly abortController?: AbortController;
  readonly tenant?: string;
}

export interface QueryOptions extends FollowOptions, SessionOptions {
  /** Name of an agent that a worker serves. */
  readonly agent: string;
  /** Route in place of the agent's own model. */
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  readonly maxThinkingTokens?: number;
  /** Narrows the agent's tools to these. */
  readonly tools?: readonly string[];
  /** Allowed without asking. */
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly permissionMode?: PermissionMode;
  /** Unlocks the mode bypassPermissions. */
  readonly allowDangerouslySkipPermissions?: boolean;
  readonly persistSession?: boolean;
  readonly outputFormat?: {
    readonly type: 'json_schema';
    readonly schema: { readonly [key: string]: Json };
  };
  /** Who asks; never counts as an approver. */
  readonly caller?: string;
  /** Id of the run; the same id again goes on with the run that is under way. */
  readonly runId?: string;
  /** Limits and settings that have no option of their own above. */
  readonly budget?: BudgetOverrides;
  readonly settings?: SettingsOverrides;
  /** Longest wait until the run is open, in ms; default 30,000. */
  readonly openLimitMs?: number;
}

export interface StartQuery<Options = QueryOptions> {
  /** The goal, a whole task, or the messages of a conversation as they come: the run waits for each next one. */
  readonly prompt: string | Task | AsyncIterable<UserPrompt>;
  readonly options: Options;
}

/** Goes on reading a run that exists. */
export interface FollowQuery<Options = FollowOptions> {
  readonly runId: string;
  /** `seq` of the last message that was seen; default: from the beginning. */
  readonly afterSeq?: number;
  /** Further messages of the user, each taken when the run waits for one. */
  readonly prompt?: AsyncIterable<UserPrompt>;
  readonly options?: Options;
}

export type QueryRequest = StartQuery | FollowQuery;

const FOLLOW_OPTIONS: { readonly [name in keyof Required<FollowOptions>]: true } = {
  canUseTool: true,
  onQuestion: true,
  decider: true,
  closeOnReturn: true,
  abortController: true,
  tenant: true,
};

const QUERY_OPTIONS: { readonly [name in keyof Required<QueryOptions>]: true } = {
  ...FOLLOW_OPTIONS,
  agent: true,
  model: true,
  fallbackModel: true,
  maxTurns: true,
  maxBudgetUsd: true,
  maxThinkingTokens: true,
  tools: true,
  allowedTools: true,
  disallowedTools: true,
  permissionMode: true,
  allowDangerouslySkipPermissions: true,
  persistSession: true,
  outputFormat: true,
  caller: true,
  runId: true,
  budget: true,
  settings: true,
  openLimitMs: true,
  sessionId: true,
  resume: true,
  continue: true,
  fork: true,
  cwd: true,
};

/** Where what other SDKs take as an option is said here. */
const ELSEWHERE: { readonly [name: string]: string } = {
  systemPrompt: 'Instructions belong to the agent: defineAgent({ instructions }).',
  agents: 'Agents are served by workers: defineConfig({ agents }).',
  hooks: 'Hooks run in the worker: defineHook, and defineAgent({ hooks }).',
  betas: 'Betas belong to the endpoint of a model: defineConfig({ endpoints }).',
  forkSession: 'Use fork: true.',
  resumeSessionAt: 'Use fork: { at }.',
  env: 'The run works in the worker, with its environment.',
};

/** Errors: InvalidTask, which names the option. */
export function checkQuery(request: QueryRequest): void {
  if (typeof request !== 'object' || request === null) {
    throw refused('the query', 'it must be { prompt, options }');
  }
  const { options = {} } = request;
  const isFollowed = 'runId' in request;
  const known: { readonly [name: string]: true } = isFollowed ? FOLLOW_OPTIONS : QUERY_OPTIONS;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    const hint = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
    throw refused(`options.${name.slice(0, 60)}`, 'there is no such option here', hint);
  }
  for (const name of ['canUseTool', 'onQuestion'] as const) {
    const callback: unknown = options[name];
    if (callback !== undefined && typeof callback !== 'function') {
      throw refused(`options.${name}`, 'it must be a function');
    }
  }
  if (isFollowed) checkFollowed(request);
  else if (!isConversation(request.prompt) && typeof request.prompt !== 'string') {
    if (typeof request.prompt !== 'object' || request.prompt === null) {
      throw refused('prompt', 'it must be a text, a task or an async iterable of messages');
    }
  }
}

function checkFollowed({ afterSeq, prompt }: FollowQuery): void {
  if (afterSeq !== undefined && !(Number.isSafeInteger(afterSeq) && afterSeq >= -1)) {
    throw refused('afterSeq', 'it must be the seq of a message');
  }
  if (prompt !== undefined && !isConversation(prompt)) {
    throw refused('prompt', 'the run has its goal; further messages are an async iterable');
  }
}

export function isConversation(prompt: unknown): prompt is AsyncIterable<UserPrompt> {
  return typeof prompt === 'object' && prompt !== null && Symbol.asyncIterator in prompt;
}

/** The start of a run with this goal. A shorthand goes before the same thing in `budget` or `settings`. */
export function startOf(goal: string | Task, options: QueryOptions, isTalk: boolean): StartOptions {
  const { sessionId, resume, continue: latest, fork, cwd } = options;
  const { agent, model, persistSession, runId, openLimitMs, tenant } = options;
  return {
    ...present({ sessionId, resume, continue: latest, fork, cwd }),
    ...present({ model, persistSession, runId, openLimitMs, tenant }),
    agent,
    task: taskOf(goal, options),
    budget: { ...options.budget, ...budgetOf(options) },
    settings: {
      ...(isTalk && { afterAnswer: 'await_user' }),
      ...options.settings,
      ...settingsOf(options),
    },
  };
}

function taskOf(goal: string | Task, options: QueryOptions): Task {
  const task = typeof goal === 'string' ? { goal } : goal;
  const { tools, caller, outputFormat } = options;
  return {
    ...task,
    ...present({ allowedActions: tools, caller, outputSchema: outputFormat?.schema }),
  };
}

function budgetOf({ maxTurns, maxThinkingTokens, maxBudgetUsd }: QueryOptions): BudgetOverrides {
  if (maxBudgetUsd !== undefined && !(maxBudgetUsd >= 0)) {
    throw refused('options.maxBudgetUsd', 'it must be an amount of money in USD, from 0');
  }
  // Rounded down: nobody may spend more than was said.
  const money = maxBudgetUsd === undefined ? undefined : Math.floor(maxBudgetUsd * 1e6 + 1e-3);
  return present({ maxTurns, maxThinkingTokens, maxCostMicroUsd: money });
}

function settingsOf(options: QueryOptions): SettingsOverrides {
  const { fallbackModel, allowedTools, disallowedTools, permissionMode } = options;
  return present({
    fallbackModel,
    allowedTools,
    disallowedTools,
    permissionMode,
    allowBypassPermissions: options.allowDangerouslySkipPermissions,
  });
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function present<T extends object>(fields: T): Present<T> {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as Present<T>;
}

/** Errors: InvalidTask for what is no message of a user. */
export function textOfPrompt(prompt: UserPrompt): { readonly text: string; readonly id?: string } {
  if (typeof prompt === 'string') return { text: prompt };
  const content: unknown = prompt?.message?.content;
  const id = typeof prompt?.uuid === 'string' ? { id: prompt.uuid } : {};
  if (typeof content === 'string') return { text: content, ...id };
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const texts = blocks.map((block) => (block as { text?: unknown } | null)?.text);
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
    throw refused('a message of prompt', 'it must be a text, or a user message of texts');
  }
  return { text: texts.join('\n\n'), ...id };
}

function refused(what: string, why: string, hint?: string): HoldfastError {
  return new HoldfastError('InvalidTask', `${what} cannot be used: ${why}.`, {
    hint: hint ?? 'Correct it and ask again.',
  });
}
