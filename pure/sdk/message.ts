/**
 * Messages as users of agent SDKs know them: names and shapes only, in their own case.
 * Beside them stands what a durable run needs: the run and the `seq` of the event that a message tells of, so
 * that a reader who lost its connection goes on after it.
 */
import type { AwaitingStatus } from '../../core/loop/awaiting.js';
import type { AskOutcome } from '../../core/state/ask-kinds.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { Json } from '../../core/json/json.js';
import type { PermissionMode } from '../../core/state/permission-mode.js';
import type { RunResult } from '../../core/state/result.js';
import type { Source } from '../sources.js';

/** What every message carries. */
export interface SDKMessageBase {
  /** The same message has the same uuid, however often it is read; what a reset put in its place has another. */
  readonly uuid: string;
  readonly session_id: string;
  readonly run_id: string;
  /** Of the run's event that this tells of; rises in each run, with gaps where an event has no message. */
  readonly seq: number;
  /** Of a message of a sub-agent: the call of the run above, its parent, that started it. null or absent: none did. */
  readonly parent_tool_use_id?: string | null;
}

export interface SDKUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}

export interface SDKTextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** As the vendor shows it, often a summary; without its signature, which is bound to the model. */
export interface SDKThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
}

export interface SDKToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

export interface SDKToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error: boolean;
}

/** The first message, exactly once; sub-agents have none among the messages of their parent. */
export interface SDKSystemMessage extends SDKMessageBase {
  readonly type: 'system';
  readonly subtype: 'init';
  readonly agent: string;
  readonly model: string;
  /** Features of its vendor that are asked for. */
  readonly betas?: readonly string[];
  readonly cwd: string;
  readonly tools: readonly string[];
  readonly mcp_servers: readonly { readonly name: string; readonly status: string }[];
  /** The mode that the run begins with. */
  readonly permissionMode: PermissionMode;
  /** The stored session that the conversation goes on with. */
  readonly resumed?: { readonly session_id: string; readonly messages: number };
}

/** What the run waits for, or that it goes on. */
export interface SDKStatusMessage extends SDKMessageBase {
  readonly type: 'system';
  readonly subtype: 'status';
  /** null: it waits for nobody. */
  readonly status: AwaitingStatus | null;
  readonly event:
    | 'approval_requested'
    | 'approval_resolved'
    | 'approval_withdrawn'
    | 'input_request'
    | 'input_provided'
    | 'interruption'
    /** What was asked of the run by a control is not done; `reason` says why. */
    | 'control_refused';
  /** The question, when one was asked. */
  readonly ask?: AskView;
  /** Of the question that was asked or has ended. */
  readonly ask_id?: string;
  readonly outcome?: AskOutcome;
  /** With the outcomes `modified` and `replaced`: the call `tool_use_id` is now this one. */
  readonly corrected?: {
    readonly tool_use_id: string;
    readonly tool_name: string;
    readonly input: Json;
  };
  readonly by?: readonly string[];
  readonly reason?: string;
}

/** The run goes on under another agent, or another run goes on with its task. */
export interface SDKHandoffMessage extends SDKMessageBase {
  readonly type: 'system';
  readonly subtype: 'handoff';
  readonly handoff: {
    readonly tool_use_id: string;
    readonly from: string;
    readonly to: string;
    readonly filter: string;
    /** Of the run that goes on, which is another one; absent: this one. */
    readonly run_id?: string;
    readonly model?: string;
    readonly tools?: readonly string[];
  };
}

/** The conversation before this point has been summarised. */
export interface SDKCompactBoundaryMessage extends SDKMessageBase {
  readonly type: 'system';
  readonly subtype: 'compact_boundary';
  readonly compact_metadata: {
    readonly trigger: 'manual' | 'auto';
    readonly pre_tokens: number;
    readonly post_tokens: number;
  };
}

/** A message that is no longer part of the conversation: whoever shows it takes it away. */
export interface SDKTombstoneMessage extends SDKMessageBase {
  readonly type: 'system';
  readonly subtype: 'tombstone';
  /** `message.id` of the assistant message. */
  readonly target_message_id: string;
  readonly reason: string;
}

/** The run was reset in Temporal: messages with this `seq` and above are superseded by those that follow. */
export interface SDKResetMessage extends SDKMessageBase {
  readonly type: 'system';
  readonly subtype: 'reset';
}

/** What a model says while it says it, as the vendor's streams are known. */
export type SDKStreamEvent =
  | {
      readonly type: 'message_start';
      readonly message: {
        readonly id: string;
        readonly type: 'message';
        readonly role: 'assistant';
        readonly content: readonly [];
      };
    }
  | {
      readonly type: 'content_block_start';
      readonly index: number;
      readonly content_block:
        | { readonly type: 'text'; readonly text: '' }
        | { readonly type: 'thinking'; readonly thinking: '' }
        | {
            readonly type: 'tool_use';
            readonly id: string;
            readonly name: string;
            readonly input: { readonly [name: string]: never };
          };
    }
  | {
      readonly type: 'content_block_delta';
      readonly index: number;
      readonly delta:
        | { readonly type: 'text_delta'; readonly text: string }
        | { readonly type: 'thinking_delta'; readonly thinking: string }
        | { readonly type: 'input_json_delta'; readonly partial_json: string };
    }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | { readonly type: 'message_stop' }
  /** What was shown of this message no longer counts: the attempt is dead, and another one may follow. */
  | { readonly type: 'attempt_reset'; readonly reason: string }
  /** Something is missing here; the message itself will be whole. */
  | { readonly type: 'gap' };

/** A piece of a reply in the making, before its `assistant` message; only with `includePartialMessages`. */
export interface SDKPartialAssistantMessage extends SDKMessageBase {
  readonly type: 'stream_event';
  readonly event: SDKStreamEvent;
  readonly parent_tool_use_id: string | null;
  /** `message.id` of the assistant message that this becomes. */
  readonly message_id: string;
  /** Number of the model call, and of the attempt at it, from 1. */
  readonly call: number;
  readonly attempt: number;
  /** A reader that comes back goes on behind this piece. */
  readonly cursor?: string;
}

/** One whole reply of the model. */
export interface SDKAssistantMessage extends SDKMessageBase {
  readonly type: 'assistant';
  readonly message: {
    readonly id: string;
    readonly type: 'message';
    readonly role: 'assistant';
    readonly model: string;
    /** Thinking first, then the text, then the calls. */
    readonly content: readonly (SDKThinkingBlock | SDKTextBlock | SDKToolUseBlock)[];
    /** null: it was cut off. */
    readonly stop_reason: string | null;
    /** The one that ended the reply; null: none did. */
    readonly stop_sequence: string | null;
    readonly usage: SDKUsage;
  };
  /** What the text rests on, as the vendor of the model says. */
  readonly sources?: readonly Source[];
  readonly parent_tool_use_id: string | null;
}

/** What the model is told: by its user, or the results of its calls. */
export interface SDKUserMessage extends SDKMessageBase {
  readonly type: 'user';
  readonly message: {
    readonly role: 'user';
    readonly content: string | readonly SDKToolResultBlock[];
  };
  readonly parent_tool_use_id: string | null;
}

/** Once before a tool runs and once when it has returned; how it ended is in the results that follow. */
export interface SDKToolProgressMessage extends SDKMessageBase {
  readonly type: 'tool_progress';
  readonly tool_use_id: string;
  readonly tool_name: string;
  readonly parent_tool_use_id: string | null;
  readonly elapsed_time_seconds: number;
}

export interface SDKPermissionDenial {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: Json;
}

/** What the replies of one model took. */
export interface SDKModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly costUSD: number;
}

interface SDKResultBase extends SDKMessageBase {
  readonly type: 'result';
  readonly duration_ms: number;
  /** Time in which the run waited for its model, retries and pauses between them included. */
  readonly duration_api_ms: number;
  readonly num_turns: number;
  /** Of the last reply. */
  readonly stop_reason: string | null;
  readonly total_cost_usd: number;
  readonly usage: SDKUsage;
  /** By model; summaries, failed attempts and sub-agents are in the totals only. */
  readonly modelUsage: { readonly [model: string]: SDKModelUsage };
  /** Every call that was not allowed, by whomever. */
  readonly permission_denials: readonly SDKPermissionDenial[];
  /** The whole result of the run, with the canonical stop reason. */
  readonly run_result: RunResult;
}

export interface SDKResultSuccess extends SDKResultBase {
  readonly subtype: 'success';
  readonly is_error: false;
  readonly result: string;
  readonly structured_output?: Json;
}

export interface SDKResultError extends SDKResultBase {
  readonly subtype:
    | 'error_during_execution'
    | 'error_max_turns'
    | 'error_max_budget_usd'
    | 'error_max_structured_output_retries';
  readonly is_error: true;
  /** Why it stopped, what to do now, and the last errors of the model. */
  readonly errors: readonly string[];
}

/** The last message, exactly once; sub-agents have none among the messages of their parent. */
export type SDKResultMessage = SDKResultSuccess | SDKResultError;

export type SDKMessage =
  | SDKSystemMessage
  | SDKStatusMessage
  | SDKCompactBoundaryMessage
  | SDKHandoffMessage
  | SDKTombstoneMessage
  | SDKResetMessage
  | SDKPartialAssistantMessage
  | SDKAssistantMessage
  | SDKUserMessage
  | SDKToolProgressMessage
  | SDKResultMessage;
