/**
 * The stream of tokens of a run: what models say while they say it, for whoever watches. It decides nothing.
 * Invariants: every attempt of a model call has a number of its own in its run (`fence`), larger than those
 * before; its chunks are numbered from 0; a chunk keeps its place however it reaches a reader. A place is
 * lost only visibly: the next chunk does not follow.
 */

/** A piece of a message in the making. Pieces of one type and block, joined, are what the block says. */
export type ModelDelta =
  | { readonly type: 'text' | 'thinking'; readonly block: number; readonly text: string }
  | {
      readonly type: 'tool_use';
      readonly block: number;
      /** A piece of the JSON text of the arguments; nobody runs a call from these. */
      readonly text: string;
      /** With the first piece: the vendor's id of the call, and the tool. */
      readonly id?: string;
      readonly tool?: string;
    };

/** Whose chunk it is. */
export interface StreamedAttempt {
  /** Number of the model call in its run. */
  readonly call: number;
  /** Number of the attempt at it, from 1. */
  readonly attempt: number;
  /** What the assistant message is called that this becomes. */
  readonly messageId: string;
}

export type StreamEntry =
  /** Every event of the run with a `seq` below `eventsBefore` is older than this attempt. */
  | { readonly kind: 'attempt_started'; readonly eventsBefore: number }
  | { readonly kind: 'delta'; readonly delta: ModelDelta }
  /** The message is complete and stored; `partial`: it was interrupted, and is what had arrived. */
  | { readonly kind: 'attempt_ended'; readonly partial?: true }
  /** The attempt is dead: nothing that it said counts. `reason`: an ErrorCode, or 'WorkerLost'. */
  | { readonly kind: 'attempt_reset'; readonly reason: string };

/** An entry with its place; what readers get. */
export type StreamChunk = StreamedAttempt & {
  /** Reading goes on behind this chunk with it, in any process. */
  readonly cursor: string;
} & (
    | StreamEntry
    /** Chunks before the next one were dropped, or removed after their time. The message itself is not lost. */
    | { readonly kind: 'gap' }
  );

/** A place in the stream of a run. */
export interface StreamPlace {
  readonly fence: number;
  readonly index: number;
}

export const STREAM_START: StreamPlace = { fence: 1, index: 0 };

/** After the last chunk of an attempt only the next attempt can follow. */
export function placeAfter({ fence, index }: StreamPlace, entry: StreamEntry): StreamPlace {
  const isLast = entry.kind === 'attempt_ended' || entry.kind === 'attempt_reset';
  // A reset that stands before the chunks of the next attempt is that one's first chunk.
  if (isLast && !(entry.kind === 'attempt_reset' && index === 0))
    return { fence: fence + 1, index: 0 };
  return { fence, index: index + 1 };
}

export function isBefore(a: StreamPlace, b: StreamPlace): boolean {
  return a.fence < b.fence || (a.fence === b.fence && a.index < b.index);
}

/** `wanted` is the place that a reader is at: whether nothing is missing before this chunk. */
export function follows(wanted: StreamPlace, place: StreamPlace, entry: StreamEntry): boolean {
  if (place.fence === wanted.fence && place.index === wanted.index) return true;
  // The attempt that was read is dead: what else it said does not matter.
  return entry.kind === 'attempt_reset' && place.index === 0 && place.fence === wanted.fence + 1;
}

export function cursorOf({ fence, index }: StreamPlace): string {
  return `${fence}.${index}`;
}

/** Undefined for what is no cursor. */
export function placeOf(cursor: string): StreamPlace | undefined {
  const match = /^([1-9]\d{0,14})\.(\d{1,15})$/.exec(cursor);
  if (match === null) return undefined;
  return { fence: Number(match[1]), index: Number(match[2]) };
}
