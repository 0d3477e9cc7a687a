/**
 * How readers learn that something of a run was written, without asking the store again and again.
 * Invariant: a hint, no more. It may come for nothing, and it may not come: whoever waits for one looks by
 * itself after a while.
 */

import type { StreamedAttempt, StreamEntry } from '../pure/stream.js';

/** One run of one tenant. */
export interface RunName {
  readonly tenant: string;
  readonly runId: string;
}

/** Events, or pieces of what a model says. */
export type ChangeKind = 'events' | 'stream';

export interface Change extends RunName {
  readonly kind: ChangeKind;
}

/** Chunks of a stream that are in the store. */
export interface WrittenChunk extends RunName {
  /** Undefined: they are too long to be passed on. */
  batch(): StreamBatch | undefined;
}

export interface ChangeListener {
  /** Somebody is waiting for a change, of that kind. */
  wanted(kind?: ChangeKind): boolean;
  /** Somebody reads a stream that is written by another process. */
  wantsChunks(): boolean;
  /** From a feed that sees what was written; others tell only that something was. */
  written(chunks: readonly WrittenChunk[]): void;
  /** Without one: nobody knows what has changed. */
  changed(change?: Change): void;
}

/** Where changes of other processes come from. */
export interface ChangeFeed {
  /** Notices changes from now on, as long as somebody wants to know; idempotent. */
  start(): void;
  stop(): Promise<void>;
}

/** One reader that waits. */
export interface ChangeWatch {
  /** Resolves when there may be something new, after `limitMs`, or when `signal` aborts. */
  wait(limitMs: number, signal?: AbortSignal): Promise<void>;
  stop(): void;
}

export interface StreamOf {
  readonly tenant: string;
  readonly runId: string;
}

/** Consecutive chunks of one attempt. */
export interface StreamBatch extends StreamOf, StreamedAttempt {
  readonly fence: number;
  /** Place of the first of them. */
  readonly first: number;
  readonly entries: readonly StreamEntry[];
}
