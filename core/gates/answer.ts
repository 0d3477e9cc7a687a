/**
 * An answer may come in several replies without calls, each of which goes on with the one before it (G100).
 * Invariants: the parts are joined in order, without a separator; an answer that was sent back starts anew.
 */
import { INLINE_BYTES_MAX, isBlank, textFitsBytes, type StoredText } from '../json/json.js';
import type { OpenRun, Run, Turn } from '../state/run.js';

/** The text of the answer, with all of its parts so far. */
export function answerOf({ reply }: Turn): StoredText | undefined {
  return reply.answer ?? reply.text;
}

/** A worker that joins nothing yet says the reply alone: the run joins what it has itself (G100). */
export function withAnswer(run: OpenRun, reply: Turn['reply']): Turn['reply'] {
  const before = answerSoFar(run);
  const { text } = reply;
  if (before === undefined || reply.answer !== undefined || text === undefined) return reply;
  if (!('text' in before) || !('text' in text)) return reply;
  const whole = `${before.text}${text.text}`;
  return textFitsBytes(whole, INLINE_BYTES_MAX) ? { ...reply, answer: { text: whole } } : reply;
}

/** The reply is a part of an answer that the next reply goes on with; a remark beside a call is none. */
export function withPart(run: OpenRun, turn: Turn): OpenRun {
  const text = answerOf(turn);
  if (text === undefined || isBlank(turn.reply.text)) return run;
  if (turn.reply.cutCalls !== undefined) return { ...startsAnew(run), partialOutput: text };
  return { ...run, partialOutput: text, answerFrom: run.answerFrom ?? turn.messageId };
}

/** The answer up to the newest reply; undefined: that reply began one. */
export function answerSoFar(run: Run): StoredText | undefined {
  return run.answerFrom === undefined ? undefined : run.partialOutput;
}

/** What the next reply says belongs to no answer before it. */
export function startsAnew(run: OpenRun): OpenRun {
  const { partialOutput: _, answerFrom: __, ...rest } = run;
  return rest;
}
