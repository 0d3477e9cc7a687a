/** The store's transcript as a list, refusing what no provider accepts (invariants i and ii). */
import type { TranscriptItem } from '../../core/state/transcript.js';
import type { Reply } from '../../core/state/model.js';
import { previewOf } from '../../core/json/json.js';

export interface Message {
  readonly role: 'U' | 'A' | 'R';
  readonly id: string;
  readonly text: string;
  /** A: calls; R: results, both by call id. */
  readonly callIds: readonly string[];
  /** R: what the model is told of each call besides its content. */
  readonly notes: readonly string[];
}

export interface Transcript {
  readonly messages: Message[];
}

export function createTranscript(): Transcript {
  return { messages: [] };
}

export function appendItems(transcript: Transcript, items: readonly TranscriptItem[]): void {
  for (const item of items) {
    const results = item.kind === 'results' ? item.results : [];
    append(transcript, {
      role: item.kind === 'results' ? 'R' : 'U',
      id: item.messageId,
      text: item.kind === 'user' ? previewOf(item.content) : '',
      callIds: results.map((result) => result.callId),
      notes: results.map((result) => result.note ?? ''),
    });
  }
}

/** The assistant's message; nothing is appended of a reply without substance. */
export function appendReply(transcript: Transcript, id: string, reply: Reply): void {
  const text = reply.text === undefined ? '' : previewOf(reply.text);
  const callIds = reply.calls.map((call) => call.id);
  if (text.trim() === '' && callIds.length === 0) return;
  append(transcript, { role: 'A', id, text, callIds, notes: [] });
}

/** What a summary leaves of the conversation: the goal and the summary. */
export function summarised(transcript: Transcript, summaryId: string): readonly Message[] {
  const summary = { role: 'U', id: summaryId, text: 'summary', callIds: [], notes: [] } as const;
  return [...transcript.messages.slice(0, 1), summary];
}

function append(transcript: Transcript, message: Message): void {
  const before = transcript.messages.at(-1);
  const open = before?.role === 'A' ? before.callIds : [];
  if (message.role === 'R' || open.length > 0) {
    if (message.role !== 'R' || message.callIds.join() !== open.join())
      throw new Error(`${message.role}(${message.callIds.join()}) after calls ${open.join()}`);
  }
  if (before !== undefined && orderOf(before.id) >= orderOf(message.id))
    throw new Error(`message ${message.id} after ${before.id}`);
  transcript.messages.push(message);
}

function orderOf(messageId: string): number {
  return Number(messageId.split(':m')[1]);
}

/** `U A R A` */
export function lettersOf(transcript: Transcript): string {
  return transcript.messages.map((message) => message.role).join(' ');
}
