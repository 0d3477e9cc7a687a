/**
 * Did the customer say yes? The recorded policies demand an explicit "yes" before anything is
 * written; the recorded agents did not always wait for it. Counted and reported, never enforced:
 * what may be written is decided by the approval, not by this.
 */
import type { RecordedTurn } from './recorded-run.js';

/** Only this much of a message is looked at. */
const TEXT_CHARS_MAX = 20_000;

/** Whether the text holds an explicit yes. "Go ahead" or "sure" is not what the policy asks for. */
export function saysYes(text: string): boolean {
  return /\byes\b/i.test(text.slice(0, TEXT_CHARS_MAX));
}

/** Whether the customer's last message before the turn at `index` says yes. */
export function consentsBefore(turns: readonly RecordedTurn[], index: number): boolean {
  const last = turns.slice(0, Math.max(0, index)).findLast((turn) => turn.role === 'user');
  return last !== undefined && saysYes(last.text);
}
