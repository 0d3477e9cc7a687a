/** What readers make of a stream of tokens. */
import type { RunHandle } from '../../../client/runs/run-handle.js';
import type { StreamChunk } from '../../../pure/stream.js';

/** All of it, until the run ends. */
export async function tokensOf(run: RunHandle, after?: string): Promise<readonly StreamChunk[]> {
  const chunks: StreamChunk[] = [];
  for await (const chunk of run.stream(after === undefined ? {} : { after })) chunks.push(chunk);
  return chunks;
}

/** The text of every message that counts: what a dead attempt said is forgotten. */
export function messagesIn(chunks: readonly StreamChunk[]): ReadonlyMap<string, string> {
  const messages = new Map<string, string>();
  for (const chunk of chunks) {
    const { messageId } = chunk;
    if (chunk.kind === 'attempt_started') messages.set(messageId, '');
    if (chunk.kind === 'attempt_reset') messages.delete(messageId);
    if (chunk.kind === 'delta' && chunk.delta.type === 'text') {
      messages.set(messageId, `${messages.get(messageId) ?? '(no start) '}${chunk.delta.text}`);
    }
  }
  return messages;
}

export function textIn(chunks: readonly StreamChunk[]): string {
  return [...messagesIn(chunks).values()].join('');
}
