/** What a query may be asked to do. */
import type { AskView } from '../../core/state/ask-view.js';
import type { GrantRequest } from '../../core/state/grant.js';
import type { Json } from '../../core/json/json.js';
import type { PermissionMode } from '../../core/state/permission-mode.js';
import type { StartedAgents } from '../../core/state/started-agent.js';
import type { BudgetLimits } from '../../authoring/budget-in-usd.js';
import type { SettingsOverrides, Task } from '../../core/state/task.js';
import type { Attachable } from '../runs/attach.js';
import type { SessionOptions } from '../runs/choose-session.js';
import type { Answer, Decider } from '../decide/decide.js';

/** A message of the user, as it goes in. */
export type UserPrompt =
  | string
  | {
      readonly type: 'user';
      readonly message: {
        readonly role: 'user';
        readonly content: string | readonly PromptBlock[];
      };
      /** The same id again is ignored. */
      readonly uuid?: string;
    };

/** A text, or a file as base64. */
export type PromptBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image' | 'document' | 'audio';
      readonly source: {
        readonly type: 'base64';
        readonly media_type: string;
        readonly data: string;
      };
      /** Name of the file. */
      readonly title?: string;
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

/** What a callback that decides calls is told. */
export interface PermissionContext {
  /** Aborted when nobody needs the answer any more: somebody else decided, time is over, the query was left. */
  readonly signal: AbortSignal;
  readonly toolUseID: string;
  /** The question, with its expiry, roles and hash. */
  readonly ask: AskView;
  /** Of the run that asks: the one that is read, or a sub-agent below it. */
  readonly runId: string;
}

/**
 * Answers approvals, while the messages are read. null: leaves it to somebody else. A callback that throws decides
 * nothing: the question stays open, and the query ends with what was thrown.
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
  context: Pick<PermissionContext, 'signal' | 'runId'>,
) => Promise<QuestionReply | null>;

/** How a run is followed, whoever started it. */
export interface FollowQueryOptions {
  readonly canUseTool?: CanUseTool;
  readonly onQuestion?: OnQuestion;
  /** As whom the callbacks decide; default `{by: 'query'}` without a role. */
  readonly decider?: Omit<Decider, 'reason'>;
  /** Also yields `stream_event`: what models say while they say it. */
  readonly includePartialMessages?: boolean;
  /** Ends the run when the loop is left before its result; default: it goes on. */
  readonly closeOnReturn?: boolean;
  /** Aborting it cancels the run; the stream goes on to the result, unless the run is not open yet (`Aborted`). */
  readonly abortController?: AbortController;
  readonly tenant?: string;
}

/** What `query` starts or follows, and what its caller hears. */
export interface QueryOptions extends FollowQueryOptions, SessionOptions {
  /** Name of an agent that a worker serves. */
  readonly agent: string;
  /**
   * Sub-agents for this run, beside those that the agent declares. Each is a role of the agent: its instructions are the
   * prompt, and it has no tool that the agent lacks.
   */
  readonly agents?: StartedAgents;
  /** Route in place of the agent's own model. */
  readonly model?: string;
  readonly fallbackModel?: string;
  /** Features of the model's vendor that have to be asked for by name. */
  readonly betas?: readonly string[];
  readonly maxTurns?: number;
  /** Most that the run may cost, in USD. */
  readonly maxCostUsd?: number;
  /** The same under the name that other SDKs have for it. */
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
  /** Pictures, documents and sounds beside the prompt. */
  readonly attachments?: readonly Attachable[];
  /** Who asks; never counts as an approver. */
  readonly caller?: string;
  /** Id of the run; the same id again goes on with the run that is under way. */
  readonly runId?: string;
  /** Limits and settings that have no option of their own above. */
  readonly budget?: BudgetLimits;
  readonly settings?: SettingsOverrides;
  /**
   * Longest wait until the run is open, in ms. Default: 30,000; ten minutes while nothing but a worker is late, as when
   * a task was lost with one; with `wait` a day.
   */
  readonly openLimitMs?: number;
  /** Start also when no living worker serves the agent, and wait for one. */
  readonly wait?: true;
}

export interface StartQuery<Options = QueryOptions> {
  /** The goal, a whole task, or the messages of a conversation as they come: the run waits for each next one. */
  readonly prompt: string | Task | AsyncIterable<UserPrompt>;
  readonly options: Options;
}

/** Goes on reading a run that exists. */
export interface FollowQuery<Options = FollowQueryOptions> {
  readonly runId: string;
  /** `seq` of the last message that was seen; default: from the beginning. */
  readonly afterSeq?: number;
  /**
   * `seq` of the last message that was seen of each sub-agent, by `run_id`. Messages of one that is left out come again
   * from the first, unless its call had ended before `afterSeq`.
   */
  readonly afterSeqs?: { readonly [runId: string]: number };
  /** `cursor` of the last `stream_event` that was seen. */
  readonly afterCursor?: string;
  /** Further messages of the user, each taken when the run waits for one. */
  readonly prompt?: AsyncIterable<UserPrompt>;
  readonly options?: Options;
}

export type QueryRequest = StartQuery | FollowQuery;
