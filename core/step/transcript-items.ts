/**
 * Messages that the core decides on, before an activity writes them.
 * Invariants: ids are `${runId}:m${n}` in order of appending; the size of what is appended counts into
 * the bound of the next request, at most one token per byte (design §10).
 */
import { charsOf, withAppended, type Appended } from './context-size.js';
import type { StoredText } from '../json/json.js';
import type { Run } from '../state/run.js';
import type { ResultItem, TranscriptItem } from '../state/transcript.js';
import { surplusKept, surplusResult } from './surplus.js';

/** Bytes that a message costs besides its text: roles, ids, braces. */
const MESSAGE_OVERHEAD_BYTES = 64;

export function appendUser<R extends Run>(
  run: R,
  content: StoredText,
  options: { readonly synthetic?: boolean; readonly asSystem?: boolean } = {},
): R {
  const item: TranscriptItem = {
    kind: 'user',
    messageId: messageIdAt(run),
    content,
    ...(options.synthetic && { synthetic: true }),
    ...(options.asSystem && { asSystem: true }),
  };
  return append(run, item, { bytes: bytesOf(content), chars: charsOf(content) });
}

/** The results of the calls that were made; those of surplus calls are added where the message is written. */
export function appendResults<R extends Run>(
  run: R,
  results: readonly ResultItem[],
  surplus = 0,
): R {
  const item: TranscriptItem = { kind: 'results', messageId: messageIdAt(run), results };
  const more = surplusKept(surplus);
  const bytes = results.reduce(
    (sum, result) => sum + resultBytes(result),
    more * resultBytes(surplusResult('')),
  );
  const chars = results.reduce(
    (sum, result) => sum + resultChars(result),
    more * resultChars(surplusResult('')),
  );
  return append(run, item, { bytes, chars });
}

/** Id that the next message of this run gets. */
export function messageIdAt(run: Run): string {
  return `${run.runId}:m${run.nextMessage}`;
}

function append<R extends Run>(run: R, item: TranscriptItem, { bytes, chars }: Appended): R {
  return {
    ...run,
    nextMessage: run.nextMessage + 1,
    pending: [...run.pending, item],
    context: withAppended(run.context, {
      bytes: bytes + MESSAGE_OVERHEAD_BYTES,
      chars: chars + MESSAGE_OVERHEAD_BYTES,
    }),
  };
}

/** Upper bound of the UTF-8 size: a UTF-16 unit takes at most three bytes. */
export function bytesOf(content: StoredText): number {
  return 'text' in content ? content.text.length * 3 : content.bytes;
}

function resultBytes(result: ResultItem): number {
  const shown = result.maxChars === undefined ? Number.POSITIVE_INFINITY : result.maxChars * 3;
  const note = (result.note ?? '').length * 3;
  return Math.min(bytesOf(result.content), shown) + note + MESSAGE_OVERHEAD_BYTES * 2;
}

function resultChars({ content, maxChars = Number.POSITIVE_INFINITY }: ResultItem): number {
  return Math.min(charsOf(content), maxChars) + MESSAGE_OVERHEAD_BYTES;
}
