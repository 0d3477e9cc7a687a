/**
 * The one results message of a turn, in proposal order (MH-08, MH-09), and the way to the next turn.
 */
import type { SettledStage } from '../state/call.js';
import { afterNotice, REPETITION_NOTICE, repetitionStep } from '../limits/repetition.js';
import { emit } from '../step/outbox.js';
import { afterTurn } from '../step/route.js';
import { follows } from '../step/changes.js';
import type { OpenRun, Turn } from '../state/run.js';
import { stop } from '../step/stop.js';
import { appendResults, appendUser, messageIdAt } from '../step/transcript-items.js';

/** True when every call of the turn has its result. */
export function allSettled(turn: Turn): boolean {
  return turn.calls.every((call) => call.stage === 'settled');
}

/** Appends the results of all calls; the turn is over as far as its calls go. */
export function appendTurnResults(run: OpenRun, turn: Turn): OpenRun {
  const settled = turn.calls.filter((call): call is SettledStage => call.stage === 'settled');
  if (settled.length === 0) return run;
  const messageId = messageIdAt(run);
  const { maxToolResultChars } = run.frozen.budget;
  const appended = appendResults(
    run,
    settled.map((call) => {
      const { callId, isError, code, content } = call.result;
      const note = noteOf(call, Math.floor(NOTES_CHARS_MAX / settled.length));
      const told = isError && code !== undefined && follows(run, 'errorCodes');
      const item = {
        callId,
        isError,
        ...(told && { code }),
        content,
        maxChars: maxToolResultChars,
      };
      return note === undefined ? item : { ...item, note };
    }),
    turn.reply.surplus,
  );
  return emit(appended, {
    type: 'tool_results_message',
    messageId,
    callIds: settled.map((call) => call.id),
  });
}

/** Of the arguments that notes repeat: of one, and of all of a turn together. */
const NOTE_ARGS_CHARS_MAX = 1_000;
const NOTES_CHARS_MAX = 4_000;

/** The model's call stands as it made it, so the result says what became of it (G9). */
function noteOf(
  { corrected, tool, args, result }: SettledStage,
  share: number,
): string | undefined {
  if (corrected === undefined) return undefined;
  const text = JSON.stringify(args);
  const shown = text.slice(0, Math.min(share, NOTE_ARGS_CHARS_MAX));
  const action = `${tool} ${shown.length < text.length ? `${shown}…` : text}`;
  const became = result.started ? 'executed' : 'wanted';
  return `User ${corrected.kind} this call: ${became} ${action}`;
}

/** The results are in: on to the next turn, unless the run repeats itself. */
export function nextTurn(run: OpenRun, turn: Turn): OpenRun {
  const { turn: _, partialOutput: __, ...rest } = appendTurnResults(afterTurn(run), turn);
  const asks = rest.asks.filter((ask) => ask.outcome === 'pending');
  const next: OpenRun = {
    ...rest,
    asks,
    early: [],
    phase: 'checking_limits',
    tally: { ...rest.tally, turnCount: rest.tally.turnCount + 1, recoveryCount: 0 },
  };
  const step = repetitionStep(next);
  if (step === 'stop') return stop(next, 'needs_human', { detail: 'no_progress' });
  const continued = emit(next, { type: 'transition', reason: 'next_turn' });
  if (step === 'none') return continued;
  return appendUser(afterNotice(continued), { text: REPETITION_NOTICE }, { synthetic: true });
}
