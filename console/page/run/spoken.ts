/** What the model says at this moment, before it is an event. It decides nothing, and goes when the event comes. */
import type { RunEvent, StreamChunk } from '../data/api-types.js';

export class Spoken {
  text = '';
  #messageId = '';
  /** Messages that came as events, or were taken back by one: what is late of their tokens is not shown. */
  readonly #told = new Set<string>();

  hear(chunk: StreamChunk): void {
    const { messageId, kind } = chunk;
    if (this.#told.has(messageId)) return;
    if (messageId !== this.#messageId || kind === 'attempt_started') this.text = '';
    this.#messageId = messageId;
    if (kind === 'attempt_reset') this.text = '';
    if (kind === 'gap') this.text += '…';
    if (kind === 'delta') this.text += wordsOf(chunk.delta);
  }

  tell(event: RunEvent): void {
    const messageId = messageIdOf(event);
    if (messageId === undefined) return;
    this.#told.add(messageId);
    if (messageId === this.#messageId) this.text = '';
  }
}

/** The message that is whole with this event, or taken back by it. */
function messageIdOf(event: RunEvent): string | undefined {
  if (event.type === 'tombstone') return event.targetMessageId;
  return event.type === 'model_response' ? event.messageId : undefined;
}

type Delta = Extract<StreamChunk, { readonly kind: 'delta' }>['delta'];

function wordsOf(delta: Delta): string {
  const begins = delta.type === 'tool_use' && delta.tool !== undefined;
  return begins ? `\n→ ${delta.tool} ${delta.text}` : delta.text;
}
