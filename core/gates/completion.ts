/**
 * The gates of completion in the order of G77. What comes before them there, calls and truncation, are
 * rules of their own. Output schema and success criteria stand between emptiness and evidence, Stop hooks
 * and the token target between evidence and done; no task can declare them under this rule set.
 */
import { emit } from '../outbox.js';
import { afterTurn } from '../route.js';
import type { OpenRun, Turn } from '../run.js';
import { stop } from '../stop.js';
import { appendUser } from '../transcript-items.js';
import { doneGate } from './done.js';
import { emptyGate } from './empty.js';
import { evidenceGate } from './evidence.js';
import type { Gate, GateVerdict } from './gate.js';
import { refusalGate } from './refusal.js';

const GATES: readonly Gate[] = [refusalGate, emptyGate, evidenceGate, doneGate];

/** What a reply without calls leads to: another round, a stop, or the answer. */
export function complete(run: OpenRun, turn: Turn): OpenRun {
  for (const gate of GATES) {
    const verdict = gate(run, turn);
    if (verdict.kind !== 'pass') return follow(run, turn, verdict);
  }
  return answered(run, turn);
}

function follow(
  run: OpenRun,
  turn: Turn,
  verdict: Exclude<GateVerdict, { kind: 'pass' }>,
): OpenRun {
  if (verdict.kind === 'stop') {
    const decision = verdict.reason === 'needs_human' ? 'escalate' : 'deny';
    const { turn: _, ...rest } = emit(run, { type: 'validation', decision });
    return stop(rest, verdict.reason, verdict.words);
  }
  const { turn: _, ...rest } = verdict.run;
  const next: OpenRun = { ...rest, phase: 'checking_limits' };
  const again = emit(next, { type: 'transition', reason: verdict.transition });
  return verdict.prompt === undefined || turn.reply.text === undefined
    ? again
    : appendUser(again, { text: verdict.prompt }, { synthetic: true });
}

function answered(run: OpenRun, turn: Turn): OpenRun {
  const { text } = turn.reply;
  const {
    turn: _,
    partialOutput: __,
    ...rest
  } = emit(afterTurn(run), { type: 'validation', decision: 'final' });
  const next: OpenRun = {
    ...rest,
    ...(text !== undefined && { lastAnswer: text }),
    tally: { ...run.tally, turnCount: run.tally.turnCount + 1 },
  };
  const goesOn: OpenRun = {
    ...next,
    phase: 'checking_limits',
    // The user's next turn has retries of its own; otherwise only `next_turn` resets recoveries (C52).
    tally: {
      ...next.tally,
      recoveryCount: 0,
      emptyRetries: 0,
      pauseResumes: 0,
      evidenceRejections: 0,
    },
  };
  if (run.frozen.settings.afterAnswer === 'await_user') return { ...goesOn, idle: true };
  // A message that came before the answer was there is answered too (G74).
  if (run.queue.length > 0) return emit(goesOn, { type: 'transition', reason: 'next_turn' });
  return stop(next, 'completed', { detail: 'final_answer' });
}
