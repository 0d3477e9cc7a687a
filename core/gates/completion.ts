/**
 * The gates of completion in the order of G77. What comes before them there, calls and truncation, are
 * rules of their own.
 */
import { only } from '../step/inflight.js';
import type { TransitionReason } from '../state/event.js';
import { isBlank } from '../json/json.js';
import { exceed } from '../money/exceed.js';
import { emit } from '../step/outbox.js';
import { afterTurn } from '../step/route.js';
import type { OpenRun, Turn, Step } from '../state/run.js';
import { stop } from '../step/stop.js';
import { appendUser } from '../step/conversation.js';
import { follows } from '../step/changes.js';
import { answerOf, startsAnew, withPart } from './answer.js';
import { criteriaGate } from './criteria.js';
import { doneGate } from './done.js';
import { emptyGate } from './empty.js';
import { evidenceGate } from './evidence.js';
import type { CompletedDetail, Gate, GateVerdict } from './gate.js';
import { outputSchemaGate } from './output-schema.js';
import { refusalGate } from './refusal.js';
import { stopHooksGate } from './stop-hooks.js';
import { nextTarget, tokenTargetGate } from './token-budget.js';

const MESSAGE_CHARS_MAX = 500;

type Again = Extract<GateVerdict, { kind: 'again' }>;

export const GATES: readonly Gate[] = [
  refusalGate,
  emptyGate,
  outputSchemaGate,
  evidenceGate,
  criteriaGate,
  stopHooksGate,
  tokenTargetGate,
  doneGate,
];

/** What a reply without calls leads to: another round, a stop, a wait, or the answer. */
export function complete(run: OpenRun, turn: Turn): Step<OpenRun> | 'hold' {
  let detail: CompletedDetail | undefined;
  for (const gate of GATES) {
    const verdict = gate(run, turn);
    if (verdict.kind === 'wait') return 'hold';
    if (verdict.kind === 'start') return verdict.step;
    if (verdict.kind !== 'pass') return only(follow(run, turn, verdict));
    detail = verdict.detail ?? detail;
  }
  return only(answered(run, turn, detail ?? 'final_answer'));
}

function follow(
  run: OpenRun,
  turn: Turn,
  verdict: Extract<GateVerdict, { kind: 'again' | 'stop' | 'exceed' }>,
): OpenRun {
  if (verdict.kind === 'exceed') return exceed(run, verdict.reason);
  if (verdict.kind === 'stop') {
    const decision = verdict.reason === 'needs_human' ? 'escalate' : 'deny';
    return stop(emit(run, { type: 'validation', decision }), verdict.reason, verdict.words);
  }
  const { turn: _, ...rest } = begunAnswer(rejected(verdict), turn, verdict.transition);
  const next: OpenRun = { ...rest, phase: 'checking_limits' };
  const again = emit(next, { type: 'transition', reason: verdict.transition });
  return verdict.prompt === undefined || isBlank(turn.reply.text)
    ? again
    : appendUser(again, { text: verdict.prompt }, { synthetic: true });
}

/** What the next reply goes on with, if anything. */
function begunAnswer(run: OpenRun, turn: Turn, transition: TransitionReason): OpenRun {
  if (!follows(run, 'joinedAnswers')) return startsAnew(run);
  if (transition === 'token_budget_continuation') return withPart(run, turn);
  // The refusal alone is taken back.
  return transition === 'model_fallback' ? run : startsAnew(run);
}

/** Not for want of anything in the reply: another model is to answer, or there is room for more. */
const NO_DENIAL: readonly TransitionReason[] = ['model_fallback', 'token_budget_continuation'];

/** Every proposal is told what became of it, an answer that is sent back too. */
function rejected({ run, transition, prompt }: Again): OpenRun {
  if (NO_DENIAL.includes(transition)) return run;
  const message = (prompt ?? transition).slice(0, MESSAGE_CHARS_MAX);
  return emit(run, { type: 'validation', decision: 'deny', message });
}

function answered(run: OpenRun, turn: Turn, detail: string): OpenRun {
  const text = answerOf(turn);
  const { output } = turn.reply;
  const final = startsAnew(emit(afterTurn(run), { type: 'validation', decision: 'final' }));
  const { turn: _, stopHookActive: __, ...rest } = final;
  const next: OpenRun = {
    ...rest,
    ...(text !== undefined && { lastAnswer: text }),
    ...(output?.ok && { lastOutput: output.value }),
    tally: { ...run.tally, turnCount: run.tally.turnCount + 1 },
  };
  if (run.frozen.settings.afterAnswer === 'await_user')
    return { ...nextQuestion(next), idle: true };
  // A message that came before the answer was there is answered too (G74).
  if (run.queue.length > 0)
    return emit(nextQuestion(next), { type: 'transition', reason: 'next_turn' });
  return stop(next, 'completed', { detail });
}

/** The user's next turn has retries of its own; otherwise only `next_turn` resets recoveries (C52). */
export function nextQuestion(run: OpenRun): OpenRun {
  const { answerFrom: _, ...rest } = run;
  return {
    ...rest,
    phase: 'checking_limits',
    ...nextTarget(run),
    tally: {
      ...run.tally,
      recoveryCount: 0,
      emptyRetries: 0,
      pauseResumes: 0,
      evidenceRejections: 0,
      criteriaRejections: 0,
      outputRetries: 0,
    },
  };
}
