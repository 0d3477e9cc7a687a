/** What the model says at this moment, before it is an event. It decides nothing, and goes when the event comes. */
import type { RunEvent, StreamChunk } from '../data/api-types.js';

export class Spoken {
  text = '';
  #messageId = '';
  /** Messages that came as events: what is late of their tokens is not shown. */
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
    if (event.type !== 'model_response') return;
    this.#told.add(event.messageId);
    if (event.messageId === this.#messageId) this.text = '';
  }
}

type Delta = Extract<StreamChunk, { readonly kind: 'delta' }>['delta'];

function wordsOf(delta: Delta): string {
  const begins = delta.type === 'tool_use' && delta.tool !== undefined;
  return begins ? `\n→ ${delta.tool} ${delta.text}` : delta.text;
}
