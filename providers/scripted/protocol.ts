/** What a scripted model needs to know of a vendor's protocol. */
import type { RenderContext } from './render.js';
import type { ScriptedFailure, ScriptedRequest } from './script.js';

export interface Protocol {
  readonly path: string;
  /** A request without its attempt; undefined when the body is none. */
  parse(body: string): Omit<ScriptedRequest, 'attempt'> | undefined;
  /** The events of a streamed reply, each a complete SSE frame. */
  events(context: RenderContext): readonly string[];
  /** The reply to a request that did not ask for a stream. */
  whole(context: RenderContext): string;
  /** The body of an answer with an error status. */
  failure(failure: ScriptedFailure): string;
  /** An error in the middle of a stream. */
  errorEvent(type: string): string;
  /** A frame without content. */
  readonly ping: string;
}
