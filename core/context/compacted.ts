/**
 * A summary of the conversation has come back, or none could be made (G34).
 */
import type { CompactOutput } from '../effect.js';
import type { Failure } from '../failure.js';
import { warn } from '../outbox.js';
import type { OpenRun } from '../run.js';

export function compacted(run: OpenRun, effectId: string, _output: CompactOutput): OpenRun {
  return warn(run, 'late_input', `${effectId} is no compaction of this run`);
}

export function notCompacted(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  return warn(run, 'late_input', `${effectId} is no compaction of this run: ${failure.message}`);
}
