/** Last gate: an answer that crossed a budget completes the run, unless a strict house says stop (C8). */
import { moneyTrip } from '../money/budget.js';
import { PASS, type GateVerdict } from './gate.js';
import type { OpenRun, Turn } from '../run.js';

export function doneGate(run: OpenRun, turn: Turn): GateVerdict {
  const tripped = moneyTrip(run);
  if (run.frozen.settings.budgetOverrunPolicy === 'complete' || tripped === undefined) return PASS;
  const { text } = turn.reply;
  return {
    kind: 'stop',
    reason: tripped,
    words: text === undefined ? {} : { partialOutput: text },
  };
}
