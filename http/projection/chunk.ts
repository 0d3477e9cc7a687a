/**
 * Chunks of the AI SDK's UI message stream, version 1, as far as a run has anything for them.
 * Invariant: a chunk of a kind that an older client refuses is in no stream of that client's profile.
 */
import type { Json } from '../../core/json/json.js';

/** `v6`: what clients of both majors take. `v7`: more, which `ai@6` refuses. */
export type UiProfile = 'v6' | 'v7';

/** Of a part that belongs to a reply of the model: which reply, and which attempt at it. */
export interface PartOrigin {
  readonly holdfast: { readonly messageId: string; readonly attempt: number };
}

/** A question to a person, as a front end shows it. */
export interface UiAsk {
  readonly askId: string;
  readonly runId: string;
  readonly kind: string;
  /** `open`, or how the question ended. */
  readonly state: string;
  /** What a decision must name. */
  readonly argsHash: string;
  readonly callId?: string;
  readonly tool?: string;
  readonly args?: Json;
  readonly question?: string;
  /** Whoever decides has one of them; none: anybody. */
  readonly roles: readonly string[];
  readonly quorum: number;
  /** Both in ms since epoch. */
  readonly openedAt: number;
  readonly expiresAt: number;
  readonly answeredBy?: 'customer' | 'staff';
  /** What the tool says of its card. */
  readonly card?: Json;
  /** The server of a tool asks: JSON Schema of the answer, or an address that nothing here opens. */
  readonly form?: {
    readonly message: string;
    readonly mode: 'form' | 'url';
    readonly schema?: Json;
    readonly url?: string;
    readonly problem?: string;
  };
  readonly by?: readonly string[];
  readonly reason?: string;
}

/** Where the run of a message is. */
export interface UiRun {
  readonly runId: string;
  /** `going_on`: the stream ended before the run; it goes on. `waiting`: for a person. */
  readonly state: 'running' | 'waiting' | 'ended' | 'going_on';
  /** Of the newest event that the message tells of. */
  readonly seq: number;
  /** Of a run that has ended. */
  readonly stopReason?: string;
  /** The conversation was changed before the message, which is in it no more. */
  readonly replaced?: true;
}

/** A sub-agent that works on a call. */
export interface UiAgent {
  readonly runId: string;
  /** Run whose call it works on: the run of the message, or another sub-agent. */
  readonly above: string;
  readonly callId: string;
  readonly agent: string;
  readonly state: 'running' | 'ended';
  readonly stopReason?: string;
}

/** A whole reply of a sub-agent. */
export interface UiSaid {
  readonly runId: string;
  readonly messageId: string;
  readonly text: string;
}

/** A reply, or one attempt at it, that no longer counts. */
export interface UiSuperseded {
  readonly messageId: string;
  /** Absent: all of them. */
  readonly attempt?: number;
}

/** A decision or answer that does not count. */
export interface UiRefused {
  readonly askId: string;
  readonly reason: string;
  readonly message: string;
}

/** Messages that no run has read: the run that they waited in has ended. The next message of the chat brings them along. */
export interface UiUnread {
  readonly messages: readonly { readonly id: string; readonly text: string }[];
}

export interface UiUnreadPart {
  readonly type: 'data-holdfast-unread';
  readonly id: 'unread';
  readonly data: UiUnread;
}

/** What a reply cites. */
export type UiSource =
  | {
      readonly type: 'source-url';
      readonly sourceId: string;
      readonly url: string;
      readonly title?: string;
    }
  | {
      readonly type: 'source-document';
      readonly sourceId: string;
      readonly mediaType: string;
      readonly title: string;
      readonly filename?: string;
    };

export type UiFinishReason = 'stop' | 'error' | 'other';

interface Block {
  readonly id: string;
}

export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string }
  | { readonly type: 'start-step' | 'finish-step' }
  /** `v7` alone. */
  | { readonly type: 'reset-step' }
  | (Block & {
      readonly type: 'text-start' | 'reasoning-start';
      readonly providerMetadata: PartOrigin;
    })
  | (Block & { readonly type: 'text-delta' | 'reasoning-delta'; readonly delta: string })
  | (Block & { readonly type: 'text-end' | 'reasoning-end' })
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: Json;
      /** The client runs no tool. */
      readonly providerExecuted: true;
      readonly providerMetadata: PartOrigin;
    }
  | {
      readonly type: 'tool-approval-request';
      readonly approvalId: string;
      readonly toolCallId: string;
    }
  /** `v7` alone. */
  | {
      readonly type: 'tool-approval-response';
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | { readonly type: 'tool-output-available'; readonly toolCallId: string; readonly output: Json }
  | { readonly type: 'tool-output-error'; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | (UiSource & { readonly providerMetadata: PartOrigin })
  | { readonly type: 'data-holdfast-ask'; readonly id: string; readonly data: UiAsk }
  | { readonly type: 'data-holdfast-agent'; readonly id: string; readonly data: UiAgent }
  | { readonly type: 'data-holdfast-said'; readonly id: string; readonly data: UiSaid }
  | { readonly type: 'data-holdfast-run'; readonly id: 'run'; readonly data: UiRun }
  | { readonly type: 'data-holdfast-superseded'; readonly data: UiSuperseded }
  | { readonly type: 'data-holdfast-refused'; readonly id: string; readonly data: UiRefused }
  | UiUnreadPart
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'finish'; readonly finishReason: UiFinishReason };
