/** Gate: an empty reply is no answer (C14). */
import { PASS, type GateVerdict } from './gate.js';
import type { OpenRun, Turn } from '../state/run.js';
import { isBlank } from '../json/json.js';

export function emptyGate(run: OpenRun, turn: Turn): GateVerdict {
  if (!isBlank(turn.reply.text)) return PASS;
  if (run.tally.emptyRetries >= run.frozen.budget.emptyResponseRetries) {
    return { kind: 'stop', reason: 'empty_response', words: {} };
  }
  const tally = { ...run.tally, emptyRetries: run.tally.emptyRetries + 1 };
  return { kind: 'again', run: { ...run, tally }, transition: 'empty_response_retry' };
}
