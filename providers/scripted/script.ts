/**
 * What a scripted model answers. A script is a function of the request alone, so a request that is retried
 * or repeated gets the same reply; only a list of replies for one key looks at the attempt.
 */
import type { Json } from '../../core/json/json.js';
import type { Usage } from '../../core/state/model.js';

export interface ScriptedRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ScriptedRequestMessage[];
  /** Assistant messages in the request: with `runId` the key of the reply. */
  readonly assistantMessages: number;
  /** `metadata.user_id`; empty when the request has none. */
  readonly runId: string;
  readonly maxTokens: number;
  /** Wire names of the tools offered. */
  readonly tools: readonly string[];
  /** How often this key was requested, this time included. */
  readonly attempt: number;
  readonly stream: boolean;
}

export interface ScriptedRequestMessage {
  readonly role: string;
  readonly content: string | readonly Json[];
}

export interface ScriptedCall {
  readonly id?: string;
  /** Registry or wire name. */
  readonly tool: string;
  readonly input?: Json;
  /** The input as JSON text, sent as it is: for malformed arguments. */
  readonly rawInput?: string;
}

/** A message, and what goes wrong while it is sent. A chunk is one server-sent event. */
export interface ScriptedMessage {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** The vendor's word; without it `tool_use` with calls, else `end_turn`. */
  readonly stopReason?: string;
  readonly stopSequence?: string;
  readonly stopDetails?: Json;
  /** What the vendor says of edits of the conversation: `{ applied_edits: [ … ] }`. */
  readonly contextManagement?: Json;
  readonly usage?: Partial<Usage>;
  readonly delayMs?: number;
  /** Deltas per block, each event written on its own. Without it the reply is one write. */
  readonly chunks?: number;
  readonly chunkDelayMs?: number;
  /** The socket is destroyed after so many events, or bytes. */
  readonly cutAfterChunks?: number;
  readonly cutAfterBytes?: number;
  /** The stream ends well after so many events, as behind a proxy that lost its server. */
  readonly endAfterChunks?: number;
  /** Nothing more is sent, or only pings, until the client gives up. */
  readonly stallAfterChunks?: number;
  readonly stallWith?: 'silence' | 'pings';
  readonly errorEventAfterChunks?: number;
  readonly errorType?: string;
}

/** An answer with an error status. */
export interface ScriptedFailure {
  readonly status: number;
  readonly errorType?: string;
  readonly errorCode?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly shouldRetry?: boolean;
  readonly delayMs?: number;
  /** Counted by the server: the script had no reply left. */
  readonly exhausted?: boolean;
}

/** A body sent with status 200 as it is. */
export interface ScriptedGarbage {
  readonly garbage: string;
  readonly contentType?: string;
}

export type ScriptedReply = ScriptedMessage | ScriptedFailure | ScriptedGarbage;

/** A list answers by attempt; its last reply is repeated. */
export type ScriptedAnswer = ScriptedReply | readonly ScriptedReply[];

export type Script = (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** Replies in the order of the run: the reply's index is the number of assistant messages so far. */
export function scriptOf(replies: readonly ScriptedAnswer[]): Script {
  return (request) => replies[request.assistantMessages] ?? exhausted(replies.length);
}

/** One script per run id; `*` answers every other run. */
export function scriptOfRuns(runs: ReadonlyMap<string, readonly ScriptedAnswer[]>): Script {
  return (request) => {
    const replies = runs.get(request.runId) ?? runs.get('*');
    if (replies === undefined) return noScript(request.runId);
    return replies[request.assistantMessages] ?? exhausted(replies.length);
  };
}

/** The reply for this attempt. */
export function replyFor(answer: ScriptedAnswer, attempt: number): ScriptedReply {
  if (!isList(answer)) return answer;
  return answer[Math.min(attempt, answer.length) - 1] ?? exhausted(0);
}

function isList(answer: ScriptedAnswer): answer is readonly ScriptedReply[] {
  return Array.isArray(answer);
}

function exhausted(count: number): ScriptedFailure {
  return failWith(`script exhausted after ${count} replies`);
}

function noScript(runId: string): ScriptedFailure {
  return failWith(`no script for run ${JSON.stringify(runId.slice(0, 200))}`);
}

function failWith(message: string): ScriptedFailure {
  return { status: 400, errorType: 'invalid_request_error', message, exhausted: true };
}
