/** How a streamed reply can go wrong, told apart from errors of the network. */
import type { Json } from '../core/json/json.js';

/** The stream cannot be read as one message. */
export class BadStream extends Error {}

/** The vendor reported an error in the place of a message, or in the middle of one. */
export class StreamError extends Error {
  readonly body: Json;

  constructor(body: Json) {
    super('the stream reported an error');
    this.body = body;
  }
}

/** The connection closed before the message was complete. */
export class CutStream extends Error {}

/** Nothing arrived for too long. */
export class StalledStream extends Error {}
