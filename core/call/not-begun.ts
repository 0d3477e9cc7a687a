/** Calls of a turn that have not begun, and the questions that may be open about them. */
import type { Call } from '../state/call.js';
import type { OpenRun } from '../state/run.js';
import { follows } from '../step/changes.js';

export const NOT_BEGUN: readonly Call['stage'][] = [
  'proposed',
  'checked',
  'hooked',
  'waiting',
  'granted',
  'rechecked',
];

/** The question of a call that waits for people; it stays open while a correction is checked. */
export function openAskOf(run: OpenRun, call: Call): string | undefined {
  if (call.stage === 'waiting') return call.askId;
  const isCorrected = call.stage === 'rechecked' && call.asker.kind === 'correction';
  return isCorrected && follows(run, 'heldWords') ? call.asker.askId : undefined;
}
