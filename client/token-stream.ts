/** The tokens of a run's models as they come. */
import type { StreamChunk } from '../core/stream.js';
import type { Link } from './link.js';

export interface StreamOptions {
  /** `cursor` of the last chunk that was seen; default: from the beginning. */
  readonly after?: string;
  /** Ends the stream; the run goes on. */
  readonly signal?: AbortSignal;
  /** Ends when everything known now has been given; default false. */
  readonly untilNow?: boolean;
}

// eslint-disable-next-line require-yield
export async function* streamOf(
  _link: Link,
  _runId: string,
  _options: StreamOptions = {},
): AsyncGenerator<StreamChunk, void, undefined> {
  await Promise.resolve();
}
