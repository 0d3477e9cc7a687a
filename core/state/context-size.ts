/** How much of the context window a run has used. */
import type { MediaCount } from './attachment.js';

export interface ContextSize {
  /** Most tokens of everything up to the newest reply, as the provider counted them, or summary; 0 before. */
  readonly knownTokens: number;
  /** Bytes appended since; at most one token per byte. */
  readonly newBytes: number;
  /** Most bytes of everything, which bound its tokens for any model; absent: not known (bytesBound). */
  readonly bytes?: number;
  /** Attachments of everything, which have no bytes here; absent: there are none. */
  readonly media?: MediaCount;
  /** Those that were appended since. */
  readonly newMedia?: MediaCount;
  readonly measure?: ContextMeasure;
  /** Name of the route whose model counted `knownTokens`. */
  readonly countedBy?: string;
}

/** For estimates, never for bounds (G36). */
export interface ContextMeasure {
  /** Of everything up to the newest reply or summary. */
  readonly tokens: number;
  readonly knownChars: number;
  /** Appended since. */
  readonly newChars: number;
  /** Tokens per 1,000 characters. */
  readonly rate: number;
}
