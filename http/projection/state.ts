/** What the chunks of one UI message need to know of the moments before theirs. */
import type { Json } from '../../core/json/json.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { WholeEvent } from '../../pure/sdk/projection.js';
import type { StreamChunk } from '../../pure/stream.js';
import type { UiChunk, UiProfile } from './chunk.js';

/** An event of a run, or a piece of what its model says, in the order of their causes. */
export type UiMoment =
  | { readonly kind: 'event'; readonly event: WholeEvent; readonly of?: UiPlace }
  | { readonly kind: 'chunk'; readonly chunk: StreamChunk; readonly of?: UiPlace };

/** Whose moment it is; absent: the run of the message. */
export interface UiPlace {
  readonly runId: string;
  /** Of a sub-agent: the run that started it, and the call of that run which it works on. */
  readonly above?: string;
  readonly callId?: string;
}

/** A sub-agent of the run, or of another one. */
export interface RunBelow {
  readonly runId: string;
  readonly above: string;
  readonly callId: string;
  readonly agent: string;
  /** Its calls that run, with the sub-agents that work on them. */
  readonly running: ReadonlyMap<string, string | undefined>;
  readonly ended: boolean;
}

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
  /** Of each block of its text what is said so far. */
  readonly texts: readonly string[];
  readonly parts: number;
}

export interface CallSaid {
  readonly tool: string;
  readonly args: Json;
  readonly messageId: string;
  readonly attempt: number;
  /** `said`: the client has not heard of it. */
  readonly state: 'said' | 'shown' | 'running' | 'ended';
  /** The sub-agent that works on it. */
  readonly child?: string;
}

export interface AskShown {
  readonly ask: AskView;
  /** The run that asks. */
  readonly of: string;
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
  /** Sub-agents that work on calls of this message, by run id. */
  readonly below: ReadonlyMap<string, RunBelow>;
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
    below: new Map(),
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
