/** Model routes, usage, and what the core knows of a reply. */
import type { Flow } from './dataflow.js';
import type { Outlook } from '../controls/outlook.js';
import type { Json, StoredText } from '../json/json.js';
import type { MediaTaken } from './attachment.js';

/** Integer micro-USD per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** A model as frozen into a run. */
export interface ModelRoute {
  /** `provider/model`, as users write it. */
  readonly name: string;
  readonly provider: string;
  readonly model: string;
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly prices: Prices;
  readonly pricesVersion: string;
  readonly temperatureAllowed: boolean;
  /** The model decides how much it thinks: it takes no budget for that, only on or off. */
  readonly thinkingAdaptive?: boolean;
  /** False: it cannot think, and must not be told how much. */
  readonly thinkingAllowed?: boolean;
  /** False: at most one call per reply is asked of it. */
  readonly parallelCalls?: boolean;
  /** Absent: it reads nothing but text. */
  readonly takes?: MediaTaken;
}

/** What to reckon with for a model that is neither known nor declared (G24, G76). */
export interface UnknownModels {
  readonly prices: 'fail' | 'zero' | Prices;
  /** Default 200,000. */
  readonly contextWindow?: number;
  /** Default 16,384. */
  readonly maxOutputTokens?: number;
}

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export type ReplyStop =
  | 'end_turn'
  | 'tool_use'
  | 'max_tokens'
  | 'stop_sequence'
  | 'refusal'
  | 'pause_turn'
  | 'context_exceeded'
  | 'unknown';

export type CallCheck =
  | {
      readonly ok: true;
      readonly outlook?: Outlook;
      /** Fields that the schema does not declare: they are not part of the arguments. At most 10 paths. */
      readonly leftOut?: readonly string[];
      /** The worker that has the reply lacks the tool's code: another one looks at them. */
      readonly unchecked?: true;
    }
  | {
      readonly ok: false;
      readonly code: 'unknown_tool' | 'invalid_arguments' | 'tool_unavailable';
      readonly message: string;
    };

/** One complete tool call of a reply, checked by the model activity against the tool's schema. */
export interface ProposedCall {
  /** The provider's id, made unique within the reply (G42). */
  readonly id: string;
  /** The tool's registry name; for an unknown tool the name that the model used. */
  readonly tool: string;
  readonly toolVersion: string;
  /** Arguments with large strings spilled to `{"$blob", "bytes"}`. */
  readonly args: Json;
  /** `callDigest` of tool, version and spilled arguments. */
  readonly digest: string;
  readonly check: CallCheck;
  /** Dataflow: what it says about other calls. With references it has not been checked against the schema. */
  readonly flow?: Flow;
}

/** Most that one attempt of a request may cost. */
export interface AttemptBound {
  readonly inputTokens: number;
  /** With all fees. */
  readonly costMicroUsd: number;
  /** Of the tools that the vendor runs: the fee for a use by wire name, and the most of all fees, in micro-USD. */
  readonly fees?: { readonly each: { readonly [tool: string]: number }; readonly most: number };
}

/** A call that the vendor ran itself: nothing of it is dispatched (G48). */
export interface HostedCall {
  readonly id: string;
  readonly tool: string;
  /** As JSON. */
  readonly args: StoredText;
  readonly isError: boolean;
  /** What the vendor says of its result, as JSON. */
  readonly content: StoredText;
}

/** The answer of a task with an output schema, as the model activity found it. */
export type OutputCheck =
  /** The value; above ARGUMENTS_BYTES_MAX bytes only the reference to its JSON text. */
  { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** What one logical model call brought, as the core records it. */
export interface Reply {
  readonly text?: StoredText;
  /** Of a reply that goes on with an answer: the whole text so far, with this reply's. */
  readonly answer?: StoredText;
  readonly calls: readonly ProposedCall[];
  /** How many calls of it were cut off and dropped: its text is a remark beside them. Absent: none. */
  readonly cutCalls?: number;
  /** How many more calls it had: they are not made (turn/surplus.ts). Absent: none. */
  readonly surplus?: number;
  readonly stop: ReplyStop;
  /** The vendor's own stop reason when `stop` is 'unknown', or the matched stop sequence. */
  readonly stopDetail?: string;
  /** Text of a refusal, or the reason of an escalation that the model asked for. */
  readonly refusal?: string;
  readonly escalation?: string;
  /** With an output schema, of a reply that could be the answer or its last part. */
  readonly output?: OutputCheck;
  /** What the vendor's own tools did, as far as it fits; and what they cost beside tokens. */
  readonly hosted?: {
    readonly calls: readonly HostedCall[];
    readonly unlisted: number;
    readonly feesMicroUsd: number;
  };
  readonly usage: Usage;
  /** Figures of the vendor's that are no counts: `usage` is the bound in their place. Absent: all are. */
  readonly usageDefect?: string;
  /** Its message has thinking, or sources, beside what stands here. */
  readonly thinking?: true;
  /** What of the reply the vendor announced and never sent. Absent: nothing. */
  readonly missing?: string;
  /** What the conversation takes with this reply; absent: all that `usage` counts. */
  readonly contextTokens?: number;
  /** Input tokens of the conversation that the vendor left out of this request, as it was asked to. */
  readonly clearedTokens?: number;
  readonly model: string;
  /** Interrupted: only what had arrived until then (C26). */
  readonly partial?: boolean;
}
