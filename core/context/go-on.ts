/** A reply that was cut off is continued, or the run stops when its recoveries are used up (C5). */
import { emit } from '../step/outbox.js';
import type { OpenRun } from '../state/run.js';
import { stop } from '../step/stop.js';
import { appendUser } from '../step/conversation.js';

/** Asks the model to go on, or stops when the recoveries are used up. */
export function continueOrStop(run: OpenRun, empty: boolean): OpenRun {
  const { recoveryCount } = run.tally;
  if (recoveryCount >= run.frozen.budget.maxOutputRecoveries) return stop(run, 'max_tokens');
  const recovered = { ...run, tally: { ...run.tally, recoveryCount: recoveryCount + 1 } };
  const continued = emit(recovered, { type: 'transition', reason: 'max_output_tokens_recovery' });
  // Nothing is left of the reply: it is asked again as it stood (G84).
  if (empty) return continued;
  const { continuationPrompt: text, continuationRole } = run.frozen.settings;
  const asSystem = continuationRole === 'system';
  return appendUser(continued, { text }, { synthetic: true, asSystem });
}
