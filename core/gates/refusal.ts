/** Gate: the model refuses, or asks for a person (C40). Where there is a fallback, it is asked first (G47). */
import { domainReason } from './domain-reason.js';
import { PASS, type GateVerdict } from './gate.js';
import { emit } from '../step/outbox.js';
import { hasFallback, onFallback } from '../step/route.js';
import type { OpenRun, Turn } from '../state/run.js';

export function refusalGate(run: OpenRun, turn: Turn): GateVerdict {
  const { reply } = turn;
  if (reply.escalation !== undefined) {
    return {
      kind: 'stop',
      reason: 'needs_human',
      words: {
        detail: domainReason(run, reply.escalation) ?? 'escalated',
        nextSafeAction: reply.escalation.slice(0, 500),
      },
    };
  }
  if (reply.stop === 'refusal' && turn.headBefore !== undefined && hasFallback(run)) {
    return { kind: 'again', run: unsaid(run, turn, turn.headBefore), transition: 'model_fallback' };
  }
  if (reply.stop === 'refusal' || reply.refusal !== undefined) {
    return {
      kind: 'stop',
      reason: 'refused',
      words: { detail: 'model_refusal' },
    };
  }
  return PASS;
}

/** The refusal is no part of what the fallback is asked. */
function unsaid(run: OpenRun, { messageId }: Turn, headBefore: string): OpenRun {
  const back: OpenRun = { ...onFallback(run), head: headBefore };
  if (run.head === headBefore) return back;
  return emit(back, { type: 'tombstone', targetMessageId: messageId, reason: 'refusal' });
}
