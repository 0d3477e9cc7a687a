/**
 * A reply that was cut off or paused, without a complete call: make room, or go on from where it stopped
 * (C5, G47, G84). Complete calls of a cut reply were dispatched before.
 * Invariant: a truncated answer is never reported as completed (C6).
 */
import { mayReact, overThreshold, wantCompaction } from '../context/compaction.js';
import { isBlank, previewOf, type StoredText } from '../json/json.js';
import { answerSoFar, withPart } from '../gates/answer.js';
import { follows } from '../step/changes.js';
import { emit } from '../step/outbox.js';
import type { OpenRun, Turn } from '../state/run.js';
import { stop } from '../step/stop.js';
import { continueOrStop } from '../context/go-on.js';

const PAUSE_RESUMES_MAX = 5;
const PARTIAL_OUTPUT_CHARS = 4_000;

export function isTruncated(turn: Turn): boolean {
  const { stop: cause } = turn.reply;
  return cause === 'max_tokens' || cause === 'context_exceeded' || cause === 'pause_turn';
}

/** Deals with a truncated reply by the run's strategy; the reply itself is over. */
export function recover(run: OpenRun, turn: Turn): OpenRun {
  const { turn: _, ...rest } = run;
  const next: OpenRun = { ...rest, phase: 'checking_limits' };
  const kept = withText(next, turn);
  if (turn.reply.stop === 'pause_turn') return resumePause(kept);
  const empty = isBlank(turn.reply.text);
  if (run.frozen.settings.maxTokensStrategy === 'stop') return stop(kept, 'max_tokens');
  if (!lacksRoom(kept, turn) || !mayReact(kept)) return continueOrStop(kept, empty);
  const before = answerSoFar(run);
  const cut = { messageId: turn.messageId, empty, ...(before !== undefined && { before }) };
  return wantCompaction(kept, { cause: 'max_tokens', cut });
}

/** What the reply has of the answer is shown by the result, and what comes next goes on with it. */
function withText(run: OpenRun, turn: Turn): OpenRun {
  if (follows(run, 'joinedAnswers')) return withPart(run, turn);
  if (turn.reply.stop === 'pause_turn') return run;
  const partial = joined(run.partialOutput, turn.reply.text);
  return partial === undefined ? run : { ...run, partialOutput: partial };
}

/** True when more room would help: the context is nearly full, or the provider says so itself (G47). */
function lacksRoom(run: OpenRun, turn: Turn): boolean {
  switch (run.frozen.settings.maxTokensStrategy) {
    case 'auto':
      return turn.reply.stop === 'context_exceeded' || overThreshold(run);
    case 'compact_first':
      return true;
    case 'continue_only':
    case 'stop':
      return false;
  }
}

function resumePause(run: OpenRun): OpenRun {
  if (run.tally.pauseResumes >= PAUSE_RESUMES_MAX) {
    return stop(run, 'max_tokens', { detail: 'pause_turn' });
  }
  const tally = { ...run.tally, pauseResumes: run.tally.pauseResumes + 1 };
  return emit({ ...run, tally }, { type: 'transition', reason: 'pause_turn_resume' });
}

/** The text of a reply that came in parts, as far as a result of older rules shows it. */
export function joined(
  before: StoredText | undefined,
  more: StoredText | undefined,
): StoredText | undefined {
  if (more === undefined) return before;
  if (before === undefined) return more;
  return { text: `${previewOf(before)}${previewOf(more)}`.slice(0, PARTIAL_OUTPUT_CHARS) };
}
