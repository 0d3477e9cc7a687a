/**
 * What every model vendor implements: one request, one normalised reply.
 * Invariants: a provider makes exactly one attempt (retries belong to the caller, G30); it throws only
 * HoldfastError with a model code; a tool call in a reply was complete when the reply was.
 */
import { HoldfastError, type ErrorCode } from '../core/state/errors.js';
import type { Json } from '../core/json/json.js';
import type { ReplyStop, Usage } from '../core/state/model.js';
import type { ModelDelta } from '../pure/stream.js';
import type { Block, ToolOffer, VendorContainer } from '../core/state/transcript.js';

/** What a request is for that the loop itself does not make. */
export type RequestPurpose = 'compaction' | 'judge' | 'review' | 'supervision';

/** One request to a model. */
export interface ModelRequest {
  /** The vendor's model id (`ModelRoute.model`). */
  readonly model: string;
  readonly system: string;
  /** Said after `system`, and other for every request: nothing to cache. */
  readonly dynamic?: readonly string[];
  /** Of tools that vendors run only those of this provider. */
  readonly tools: readonly ToolOffer[];
  /** The tools explain the conversation; none of them may be called. */
  readonly toolChoice?: 'none';
  /** False: at most one call per reply, where the vendor can be told so. */
  readonly parallelCalls?: boolean;
  readonly messages: readonly RequestMessage[];
  readonly maxTokens: number;
  readonly temperature?: number;
  /** `maxTokens` 0: none. Absent: the model's own default. */
  readonly thinking?: { readonly maxTokens: number; readonly adaptive: boolean };
  /** Names of the vendor's features that have to be asked for. */
  readonly betas?: readonly string[];
  /** In which the vendor ran code for an earlier reply of the run. */
  readonly container?: VendorContainer;
  readonly metadata?: {
    readonly runId: string;
    readonly call: number;
    /** Absent: the loop asks. */
    readonly purpose?: RequestPurpose;
    /** Of a judge or a supervisor. */
    readonly name?: string;
  };
}

/** Nobody changes one that was sent: what was made of it is used again, as long as `model` and the list of `tools` are the same. */
export interface RequestMessage {
  readonly role: 'user' | 'assistant';
  /** A user's message that the system says, where the vendor lets it speak this late (C45). */
  readonly asSystem?: boolean;
  /** `tool_use.tool` may be the registry name or the wire name. */
  readonly blocks: readonly Block[];
  /** Vendor blocks of an assistant message: returned unchanged to the same model (G49). */
  readonly raw?: Json;
  /** The `ModelRequest.model` that brought `raw`. For any other model the message is rebuilt from blocks. */
  readonly rawModel?: string;
}

/**
 * How far the usage of a reply can be trusted. `reported`: the vendor's final numbers. `estimated`: the
 * vendor's input, our count of the output that arrived. `absent`: the request left, nothing was reported
 * (numbers are 0; reckon with the bound). `unsent`: the request never left.
 */
export type UsageSource = 'reported' | 'estimated' | 'absent' | 'unsent';

/** One whole reply of a model. */
export interface ModelReply {
  /** Complete blocks in order, thinking included; `tool_use.tool` is the wire name. */
  readonly blocks: readonly Block[];
  /** The vendor's content blocks, with call ids made unique and incomplete blocks left out. */
  readonly raw: Json;
  readonly stop: ReplyStop;
  /** The vendor's own reason when `stop` is 'unknown'; the matched stop sequence. */
  readonly stopDetail?: string;
  readonly refusal?: string;
  /** The model asks for a person, with its reason. */
  readonly escalation?: string;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  /**
   * What the conversation takes with this reply, where that is not the sum of `usage`: the vendor counts parts of it
   * twice, or has left parts out. `unknown`: it may have left some out and does not say how much.
   */
  readonly contextTokens?: number | 'unknown';
  /** Input tokens of the conversation that the vendor left out of this request, as it was asked to. */
  readonly clearedTokens?: number;
  /** The model that answered, as the vendor names it. */
  readonly model: string;
  /** Interrupted: only what had arrived until then (C26). */
  readonly partial?: boolean;
  /** In which the vendor ran code. */
  readonly container?: VendorContainer;
  /** Calls that the vendor ran itself and whose result has arrived. */
  readonly hosted?: readonly HostedUse[];
  /** Tool calls that were begun and dropped: cut off, or part of a refused message. */
  readonly incompleteCalls: number;
  /** What of the reply the vendor announced and never sent, in a few words; the rest is here. Absent: nothing. */
  readonly missing?: string;
}

export interface HostedUse {
  readonly id: string;
  /** The wire name. */
  readonly tool: string;
  readonly args: Json;
  readonly isError: boolean;
  readonly result: Json;
}

export interface ModelProgress {
  /** Called for every chunk that arrives, keep-alives included. */
  onProgress(): void;
  /**
   * Present when somebody reads along: takes what arrives, in order. It never throws and never makes wait. A
   * provider that cannot say need not: its reply is shown when it is there.
   */
  onDelta?(delta: ModelDelta): void;
  readonly signal: AbortSignal;
}

/** What reaches a vendor: one request, one whole reply, or a failed attempt. */
export interface Provider {
  readonly name: string;
  /** Once `signal` aborts this returns the partial reply; it does not throw. */
  complete(request: ModelRequest, progress: ModelProgress): Promise<ModelReply>;
}

export type ModelErrorCode = Extract<
  ErrorCode,
  | 'RateLimited'
  | 'Overloaded'
  | 'ServerError'
  | 'NetworkTimeout'
  | 'PromptTooLong'
  | 'AuthError'
  | 'InvalidRequest'
  | 'ContentRefused'
  | 'MalformedReply'
>;

/** `HoldfastError.details` of every failure that a provider throws. */
export interface ModelFailureDetails {
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** The vendor may have billed the input: reckon with it. */
  readonly receivedInput: boolean;
  /** Output that arrived before the failure, in tokens, estimated from its bytes. */
  readonly receivedOutputTokensEstimate: number;
  readonly shouldRetry: boolean;
  readonly requestId?: string;
}

const HINTS: Readonly<Record<ModelErrorCode, string>> = {
  RateLimited: 'Wait and try again, or raise the limit of the account.',
  Overloaded: 'Try again later, or configure a fallback model.',
  ServerError: 'Try again; if it lasts, look at the status page of the vendor.',
  NetworkTimeout: 'Check the network and the base URL of the provider.',
  PromptTooLong: 'Shorten the conversation or use a model with a larger context window.',
  AuthError: 'Check the API key and the billing of its account.',
  InvalidRequest: 'Correct the request; sending it again will fail again.',
  ContentRefused: 'Change the content that the vendor refuses.',
  MalformedReply: 'Try again; if it lasts, check what stands between here and the vendor.',
};

/** A failure of a provider, with the details that callers decide by. */
export function modelFailure(
  code: ModelErrorCode,
  message: string,
  details: ModelFailureDetails & { readonly hint?: string; readonly cause?: unknown },
): HoldfastError {
  const { hint = HINTS[code], cause, ...facts } = details;
  return new HoldfastError(code, message, { hint, details: facts, cause });
}

export { estimateTokens } from '../pure/token-estimate.js';
