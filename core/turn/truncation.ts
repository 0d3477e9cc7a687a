/**
 * A reply that was cut off or paused, without a complete call: go on from where it stopped (C5, G47, G84).
 * Invariant: a truncated answer is never reported as completed (C6).
 */
import { previewOf, type StoredText } from '../json.js';
import { emit } from '../outbox.js';
import type { OpenRun, Turn } from '../run.js';
import { stop } from '../stop.js';
import { appendUser } from '../transcript-items.js';

export const CONTINUATION_PROMPT = 'You were cut off. Please continue from where you stopped.';
const PAUSE_RESUMES_MAX = 5;
const PARTIAL_OUTPUT_CHARS = 4_000;

export function isTruncated(turn: Turn): boolean {
  const { stop: cause } = turn.reply;
  return cause === 'max_tokens' || cause === 'context_exceeded' || cause === 'pause_turn';
}

/** Continues a truncated reply, or stops when the recoveries are used up. */
export function recover(run: OpenRun, turn: Turn): OpenRun {
  const { turn: _, ...rest } = run;
  const next: OpenRun = { ...rest, phase: 'checking_limits' };
  if (turn.reply.stop === 'pause_turn') return resumePause(next);
  const partial = joined(run.partialOutput, turn.reply.text);
  const partialOutput = partial === undefined ? {} : { partialOutput: partial };
  if (run.tally.recoveryCount >= run.frozen.budget.maxOutputRecoveries) {
    return stop(next, 'max_tokens', partialOutput);
  }
  const recovered: OpenRun = {
    ...next,
    ...partialOutput,
    tally: { ...run.tally, recoveryCount: run.tally.recoveryCount + 1 },
  };
  const continued = emit(recovered, { type: 'transition', reason: 'max_output_tokens_recovery' });
  // Nothing is left of the reply: it is asked again as it stood (G84).
  return turn.reply.text === undefined
    ? continued
    : appendUser(continued, { text: CONTINUATION_PROMPT }, { synthetic: true });
}

function resumePause(run: OpenRun): OpenRun {
  if (run.tally.pauseResumes >= PAUSE_RESUMES_MAX) {
    return stop(run, 'max_tokens', { detail: 'pause_turn' });
  }
  const tally = { ...run.tally, pauseResumes: run.tally.pauseResumes + 1 };
  return emit({ ...run, tally }, { type: 'transition', reason: 'pause_turn_resume' });
}

function joined(
  before: StoredText | undefined,
  more: StoredText | undefined,
): StoredText | undefined {
  if (more === undefined) return before;
  if (before === undefined) return more;
  return { text: `${previewOf(before)}${previewOf(more)}`.slice(0, PARTIAL_OUTPUT_CHARS) };
}
