/** Last gate: an answer that crossed a budget completes the run, unless a strict house says stop (C8). */
import { moneyTrip } from '../money/budget.js';
import { PASS, type GateVerdict } from './gate.js';
import type { OpenRun } from '../state/run.js';

export function doneGate(run: OpenRun): GateVerdict {
  if (run.frozen.settings.budgetOverrunPolicy === 'complete') return PASS;
  const tripped = moneyTrip(run);
  return tripped === undefined ? PASS : { kind: 'exceed', reason: tripped };
}
