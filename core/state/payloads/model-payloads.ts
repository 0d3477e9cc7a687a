/**
 * Payloads of the activities that ask models: calls, summaries, routes, and what was paid for nothing.
 * Invariant: they carry references, never conversations (their limits: json.ts).
 */
import type { Frozen } from '../frozen.js';
import type { StoredText } from '../../json/json.js';
import type { AttemptBound, ModelRoute, Reply } from '../model.js';
import type { TranscriptItem } from '../transcript.js';
import type { Acknowledged, EventBatch, Limited, NeedsCode, RunRef } from './payload.js';

export interface CallModelInput extends EventBatch, Limited {
  readonly v: 1;
  readonly run: RunRef;
  /** Number of the logical model call, from 1. */
  readonly call: number;
  /** Newest node that is already in the store. */
  readonly head: string;
  /** Messages to append before the request, in order. */
  readonly append: readonly TranscriptItem[];
  /** Id of the assistant message that the reply becomes. */
  readonly replyMessageId: string;
  readonly route: Frozen['route'];
  /** Names of the tools offered; undefined: all of the root node; none: the model may not call any. */
  readonly offered?: readonly string[];
  /** The system prompt's changing part, said after the root's (G37). */
  readonly dynamic?: readonly string[];
  readonly maxTokens: number;
  readonly temperature: number;
  /** 0: no thinking; undefined: the model's own default. */
  readonly maxThinkingTokens?: number;
  /** Features of the vendor to ask for; absent: none. */
  readonly betas?: readonly string[];
  /** Calls say what they wait for and where their results go: it is taken off their arguments. */
  readonly dataflow?: boolean;
  /** Bound of one attempt. */
  readonly bound: AttemptBound;
  /** What all attempts of this call together may cost and use; null: no limit. */
  readonly left: SpendingLeft;
  readonly maxRetries: ModelRetries;
  /** JSON Schema, as text, that an answer without calls is checked against. */
  readonly outputSchema?: StoredText;
  /** The answer so far, which the reply goes on with (G100). Absent: the reply begins one. */
  readonly before?: StoredText;
  /** The reply is streamed to readers; its pieces are kept for so long after the run. */
  readonly stream?: { readonly keepMs: number };
}

/** An attempt that was made because the one before it ended with `class`. */
export interface RetriedAttempt {
  readonly attempt: number;
  /** An ErrorCode, or 'WorkerLost'. */
  readonly class: string;
}

export interface SpendingLeft {
  readonly costMicroUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

export interface ModelRetries {
  readonly serverError: number;
  readonly other: number;
}

export interface CallModelOutput extends Acknowledged {
  /** Node of the assistant message; equal to the head before it when nothing was left of the reply. */
  readonly head: string;
  readonly reply: Reply;
  /** Bytes of the message as any other model gets it; absent: nobody has counted. */
  readonly bytes?: number;
  /** Of a refused request: the head without the refusal, for another model to answer. */
  readonly headBefore?: string;
  readonly attempts: number;
  readonly retried?: readonly RetriedAttempt[];
  /** Billed or estimated for failed attempts, on top of the reply's own usage (G25). */
  readonly lostCostMicroUsd: number;
  /** Absent: none. */
  readonly lostUsage?: Reply['usage'];
}

/** Summarises the older part of the conversation under a new head (G34). */
export interface CompactInput extends EventBatch, Limited {
  readonly v: 1;
  readonly run: RunRef;
  /** Number of this compaction in the run, from 1. */
  readonly number: number;
  readonly head: string;
  readonly append: readonly TranscriptItem[];
  /** Id of the message that the summary becomes. */
  readonly messageId: string;
  readonly trigger: 'auto' | 'reactive';
  readonly route: ModelRoute;
  /** Names of the tools offered; undefined: all of the root node. What was cached stays cached. */
  readonly offered?: readonly string[];
  /** Size of the conversation now; sizes of its parts are reckoned by their share of it. */
  readonly preTokens: number;
  /** Most turns at the end that stay as they are. */
  readonly keepTurns: number;
  /** A reply that was cut off and will be asked for again: the new conversation goes on without it. */
  readonly dropped?: string;
  /** First message of the answer that the cut reply went on with. Absent: the cut reply began one. */
  readonly answerFrom?: string;
  /** Said beside the summary word for word: pinned evidence, state. */
  readonly pinned: readonly string[];
  /** The same for texts that lie in the store. */
  readonly pinnedRefs?: readonly { readonly label: string; readonly content: StoredText }[];
  /** Most characters of each of them. */
  readonly pinnedCharsMax: number;
  readonly maxTokens: number;
  readonly betas?: readonly string[];
  /** Bound of one attempt. */
  readonly bound: CallModelInput['bound'];
  readonly left: SpendingLeft;
  readonly maxRetries: ModelRetries;
}

export interface CompactOutput extends Acknowledged {
  readonly head: string;
  /** Estimated tokens of the context under the new head. */
  readonly tokens: number;
  /** Bytes of everything under the new head, which bound its tokens; undefined: nobody has counted. */
  readonly bytes?: number;
  /** `answerFrom` stands in the new conversation as it was. */
  readonly answerKept?: true;
  readonly usage: Reply['usage'];
  readonly lostCostMicroUsd: number;
  readonly lostUsage: Reply['usage'];
}

/** The route of a model that a person or a fallback names (G24, G76). */
export interface ResolveModelInput extends EventBatch, NeedsCode {
  readonly v: 1;
  readonly run: RunRef;
  readonly model: string;
  /** The run pays whatever it costs: nobody has to know its prices. Absent: its money is limited, or it follows older rules. */
  readonly money?: 'unlimited';
}

export interface ResolveModelOutput extends Acknowledged {
  readonly resolved:
    | { readonly ok: true; readonly route: ModelRoute }
    | { readonly ok: false; readonly reason: string };
}

/** What the attempts of a model call have cost whose activity never said it (G25). */
export interface AccountCallInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  /** The call, of this segment. */
  readonly effectId: string;
}

export interface AccountCallOutput extends Acknowledged {
  readonly lostCostMicroUsd: number;
  readonly lostUsage: Reply['usage'];
}
