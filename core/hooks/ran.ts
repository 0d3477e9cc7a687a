/**
 * The hooks of one point have run, or could not be run.
 */
import type { RunHooksOutput } from '../effect.js';
import type { Failure } from '../failure.js';
import { warn } from '../outbox.js';
import type { OpenRun } from '../run.js';

export function hooksRan(run: OpenRun, effectId: string, _output: RunHooksOutput): OpenRun {
  return warn(run, 'late_input', `${effectId} belongs to no hook point`);
}

export function hooksFailed(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  return warn(run, 'late_input', `${effectId} belongs to no hook point: ${failure.message}`);
}
