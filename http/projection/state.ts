/** What the chunks of one UI message need to know of the moments before theirs. */
import type { Json } from '../../core/json/json.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { WholeEvent } from '../../pure/sdk/projection.js';
import type { StreamChunk } from '../../pure/stream.js';
import type { UiChunk, UiProfile } from './chunk.js';

/** An event of a run, or a piece of what its model says, in the order of their causes. */
export type UiMoment =
  | { readonly kind: 'event'; readonly event: WholeEvent }
  | { readonly kind: 'chunk'; readonly chunk: StreamChunk };

export interface UiOptions {
  /** Default `v6`. */
  readonly profile?: UiProfile;
  /** Whether what the model thinks is shown, as its vendor shows it; default true. */
  readonly reasoning?: boolean;
}

/** The reply that is being shown. */
export interface ReplyShown {
  readonly messageId: string;
  readonly attempt: number;
  /** Id of the part that grows, with its kind. */
  readonly open?: { readonly id: string; readonly kind: 'text' | 'reasoning' };
  /** All of its text so far. */
  readonly text: string;
  readonly parts: number;
}

export interface CallSaid {
  readonly tool: string;
  readonly args: Json;
  readonly messageId: string;
  readonly attempt: number;
  /** `said`: the client has not heard of it. */
  readonly state: 'said' | 'shown' | 'running' | 'ended';
}

export interface AskShown {
  readonly ask: AskView;
  /** The client shows it at its call. */
  readonly atCall: boolean;
}

export interface UiFold {
  readonly profile: UiProfile;
  readonly reasoning: boolean;
  readonly runId: string;
  /** Of the newest event; -1: none. */
  readonly seq: number;
  readonly hasStep: boolean;
  readonly reply?: ReplyShown;
  /** Of this message, by id. */
  readonly calls: ReadonlyMap<string, CallSaid>;
  /** Those that are open, by id. */
  readonly asks: ReadonlyMap<string, AskShown>;
  /** Rejected calls whose results come. */
  readonly denied: ReadonlySet<string>;
  /** Its run waits for the next message of its user. */
  readonly awaitsUser: boolean;
  /** The run is over; the message is whole. */
  readonly ended: boolean;
}

export interface UiTold {
  readonly state: UiFold;
  readonly chunks: readonly UiChunk[];
}

export function startFold(
  { profile = 'v6', reasoning = true }: UiOptions,
  runId: string,
  seq = -1,
): UiFold {
  return {
    profile,
    reasoning,
    runId,
    seq,
    hasStep: false,
    calls: new Map(),
    asks: new Map(),
    denied: new Set(),
    awaitsUser: false,
    ended: false,
  };
}

/** Several steps of a fold, one after the other. */
export function inTurn(state: UiFold, steps: readonly ((state: UiFold) => UiTold)[]): UiTold {
  const chunks: UiChunk[] = [];
  let now = state;
  for (const step of steps) {
    const told = step(now);
    now = told.state;
    chunks.push(...told.chunks);
  }
  return { state: now, chunks };
}
