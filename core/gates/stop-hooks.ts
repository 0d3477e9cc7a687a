/**
 * Gate: the Stop hooks judge the answer. Objections go back to the model as a user message,
 * with the answer that they are about kept (C46); they come before `preventContinuation`.
 * Invariant: at most `maxStopHookReentries` re-entries per session, each at the price of a model call (C32).
 */
import { startHooks, toldText } from '../hooks/start.js';
import type { AnswerOpinion } from '../state/hook.js';
import { type OpenRun, type Turn, hasHooks } from '../state/run.js';
import { answerOf } from './answer.js';
import { domainReason } from './domain-reason.js';
import { PASS, type GateVerdict } from './gate.js';

export function stopHooksGate(run: OpenRun, turn: Turn): GateVerdict {
  if (!hasHooks(run, 'Stop')) return PASS;
  const { judgement } = turn;
  if (judgement === 'running') return { kind: 'wait' };
  if (judgement === undefined) return ask(run, turn);
  if (judgement.blockingErrors.length > 0) return blocked(run, judgement);
  if (!judgement.prevented) return PASS;
  const { message } = judgement;
  const detail = domainReason(run, message);
  return {
    kind: 'stop',
    reason: 'stop_hook_prevented',
    words: {
      ...(detail !== undefined && { detail }),
      ...(message !== undefined && { nextSafeAction: message }),
    },
  };
}

function ask(run: OpenRun, turn: Turn): GateVerdict {
  const payload = {
    response: toldText(answerOf(turn)),
    stopHookActive: run.stopHookActive === true,
  };
  const asking: OpenRun = {
    ...run,
    phase: 'stop_hooks',
    turn: { ...turn, judgement: 'running' },
  };
  return { kind: 'start', step: startHooks(asking, { point: 'Stop' }, payload) };
}

/** Answers that were sent back so far, with those of earlier runs of the session (G103). */
export function reentriesOf({ tally, earlierReentries = 0 }: OpenRun): number {
  return earlierReentries + tally.stopHookReentries;
}

function blocked(run: OpenRun, { blockingErrors }: AnswerOpinion): GateVerdict {
  const text = blockingErrors.join('\n');
  const { stopHookReentries } = run.tally;
  if (reentriesOf(run) >= run.frozen.budget.maxStopHookReentries) {
    return {
      kind: 'stop',
      reason: 'stop_hook_prevented',
      words: { detail: 'reentry_limit', nextSafeAction: text.slice(0, 500) },
    };
  }
  const tally = { ...run.tally, stopHookReentries: stopHookReentries + 1 };
  return {
    kind: 'again',
    run: { ...run, tally, stopHookActive: true },
    transition: 'stop_hook_blocking',
    prompt: text,
  };
}
